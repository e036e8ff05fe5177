package dev.semel.server.cli;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "audit",
        description = "Lists who changed what, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel audit",
            "  semel audit action:key.release since:7d",
            "  semel audit target:evt_1",
            "  semel audit since:30d --export audit.jsonl"
        })
final class AuditCommand implements Callable<Integer> {
    private static final int ROWS_AT_ONCE = 200;

    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(
            paramLabel = "FILTER",
            arity = "0..*",
            description =
                    "Words such as actor:tok_1 action:key.release target:evt_1 since:2h until:2026-11-15T09:00:00Z.")
    List<String> filter = new ArrayList<>();

    @Option(
            names = "--export",
            paramLabel = "FILE",
            description = "Write all of them to a file, one JSON object in each line.")
    String export = "";

    AuditCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        String words = String.join(" ", filter);
        if (!export.isEmpty()) {
            return exported(words, around.folder().resolve(export));
        }
        Answer answer = connection
                .api()
                .ask(listing.page(Call.get(Call.path("v1", "audit")).where("q", words)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(around.clock().instant());
        Table table = new Table("WHEN", "WHO", "DID", "TO", "WHY");
        for (JsonNode row : answer.body().path("items")) {
            table.row(
                    Listing.when(output, row, "at", now),
                    Json.text(row, "actor_id"),
                    Json.text(row, "action"),
                    Json.text(row, "target"),
                    Json.text(row, "reason"));
        }
        if (!answer.body().path("items").isEmpty()) {
            table.print(output);
        }
        String command = "audit" + (words.isEmpty() ? "" : " " + words);
        Listing.end(output, answer.body(), command, "nobody changed anything here, as far as this filter sees");
        return Exit.DONE;
    }

    /** Into a file beside it first, so that half an export never looks like a whole one. */
    private int exported(String words, Path file) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        long rows;
        try {
            try (BufferedWriter out = Files.newBufferedWriter(part, StandardCharsets.UTF_8)) {
                rows = write(out, words);
            }
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw Failure.here(
                    Exit.FAILED,
                    "export-failed",
                    "The audit could not be written to " + export + " ("
                            + e.getClass().getSimpleName() + "). There is no complete export.",
                    "Name a file in a folder that can be written.");
        }
        output.talk(rows + (rows == 1 ? " row" : " rows") + " written to " + export);
        return Exit.DONE;
    }

    private long write(BufferedWriter out, String words) throws IOException {
        Api api = connection.api();
        long rows = 0;
        String after = "";
        do {
            JsonNode page = api.ask(Call.get(Call.path("v1", "audit"))
                            .where("q", words)
                            .where("limit", Integer.toString(ROWS_AT_ONCE))
                            .where("after", after))
                    .body();
            for (JsonNode row : page.path("items")) {
                out.write(row.toString());
                out.write('\n');
                rows++;
            }
            after = Json.text(page, "next");
        } while (!after.isEmpty());
        return rows;
    }
}
