package dev.semel.server.cli;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel audit list`: lists the audit log or exports it to a file. */
@Command(
        name = "list",
        description = "Lists who changed what, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel audit list",
            "  semel audit list action:key.release since:7d",
            "  semel audit list target:evt_1",
            "  semel audit list since:30d --export audit.jsonl"
        })
final class AuditListCommand extends ListCommand {
    private static final int ROWS_AT_ONCE = 200;

    @Parameters(
            paramLabel = "FILTER",
            arity = "0..*",
            description = "Filter terms such as actor:tok_1 action:key.release target:evt_1 since:2h"
                    + " until:2026-11-15T09:00:00Z.")
    List<String> filter = new ArrayList<>();

    @Option(
            names = "--export",
            paramLabel = "FILE",
            description = "Write all matching entries to a file, one JSON object per line.")
    String export = "";

    AuditListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        return export.isEmpty()
                ? super.call()
                : exported(query(), environment.folder().resolve(export));
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "audit")),
                        "audit list" + (filter.isEmpty() ? "" : " " + query()),
                        "no audit entry matches this filter")
                .addTime("WHEN", "at")
                .addText("ACTOR", "actor_id")
                .addText("ACTION", "action")
                .addText("TARGET", "target")
                .addText("REASON", "reason");
    }

    @Override
    String query() {
        return String.join(" ", filter);
    }

    /** Writes to a temporary file first, so that a partial export never looks complete. */
    private int exported(String words, Path file) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        long rows;
        try {
            try (BufferedWriter out = Files.newBufferedWriter(part, StandardCharsets.UTF_8)) {
                rows = write(out, words);
            }
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw CommandFailure.create(
                    ExitCode.FAILED,
                    "export-failed",
                    "The audit log could not be written to " + export + " ("
                            + e.getClass().getSimpleName() + "). The export is incomplete.",
                    "Choose a file in a writable folder.");
        }
        if (output.json) {
            return printJson(TerminalJson.newObject().put("file", export).put("rows", rows));
        }
        output.printMessage(rows + (rows == 1 ? " row" : " rows") + " written to " + export);
        return ExitCode.OK;
    }

    private long write(BufferedWriter out, String words) throws IOException {
        ApiClient api = connection.api();
        long rows = 0;
        String after = "";
        do {
            JsonNode page = api.send(ApiRequest.get(ApiRequest.path("v1", "audit"))
                            .withQuery("q", words)
                            .withQuery("limit", Integer.toString(ROWS_AT_ONCE))
                            .withQuery("after", after))
                    .body();
            for (JsonNode row : page.path("items")) {
                out.write(row.toString());
                out.write('\n');
                rows++;
            }
            after = TerminalJson.text(page, "next");
        } while (!after.isEmpty());
        return rows;
    }
}
