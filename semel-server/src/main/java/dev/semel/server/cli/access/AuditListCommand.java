package dev.semel.server.cli.access;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
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

@Command(
        name = "list",
        description = "Lists who changed what, newest first.",
        footer = {
            "  semel audit list",
            "  semel audit list action:key.release since:7d",
            "  semel audit list target:evt_1",
            "  semel audit list since:30d --export audit.jsonl"
        })
public final class AuditListCommand extends CliListCommand {
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

    @Override
    public Integer call() {
        return export.isEmpty() ? super.call() : exported(environment().folder().resolve(export));
    }

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(
                        CliApiRequest.get("v1", "audit"),
                        "audit list" + (filter.isEmpty() ? "" : " " + String.join(" ", filter)),
                        "no audit entry matches this filter")
                .filter(filter)
                .addTime("WHEN", "at")
                .addText("ACTOR", "actor_id")
                .addText("ACTION", "action")
                .addText("TARGET", "target")
                .addText("REASON", "reason");
    }

    /** Writes to a temporary file first, so that a partial export never looks complete. */
    private int exported(Path file) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        long rows;
        try {
            try (BufferedWriter out = Files.newBufferedWriter(part, StandardCharsets.UTF_8)) {
                rows = write(out);
            }
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw CliCommandException.create(
                    ExitCode.FAILED,
                    "export-failed",
                    "The audit log could not be written to " + export + " ("
                            + e.getClass().getSimpleName() + "). The export is incomplete.",
                    "Choose a file in a writable folder.");
        }
        String written = CliCommandOutput.countOf(rows, "row") + " written to " + export;
        return output.print(
                TerminalJsonFormatter.newObject().put("file", export).put("rows", rows),
                () -> output.printMessage(written));
    }

    private long write(BufferedWriter out) throws IOException {
        CliApiClient api = connection.api();
        long rows = 0;
        String after = "";
        do {
            JsonNode page = api.send(CliApiRequest.get("v1", "audit")
                            .withQuery("q", String.join(" ", filter))
                            .withQuery("limit", Integer.toString(ROWS_AT_ONCE))
                            .withQuery("after", after))
                    .body();
            for (JsonNode row : page.path("items")) {
                out.write(row.toString());
                out.write('\n');
                rows++;
            }
            after = TerminalJsonFormatter.text(page, "next");
        } while (!after.isEmpty());
        return rows;
    }
}
