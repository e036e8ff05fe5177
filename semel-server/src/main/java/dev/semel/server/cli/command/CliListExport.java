package dev.semel.server.cli.command;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import tools.jackson.databind.JsonNode;

/** Writes the rows of all pages of a list to a file, one JSON object per line. */
record CliListExport(CliApiCommand command, CliApiRequest firstPage) {
    private static final int ROWS_AT_ONCE = 200;

    /** Writes to a temporary file first, so that a partial export never looks complete. */
    int writeTo(String name) {
        Path file = command.environment().folder().resolve(name);
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
                    "The list could not be written to " + name + " ("
                            + e.getClass().getSimpleName() + "). The export is incomplete.",
                    "Choose a file in a writable folder.");
        }
        String written = CliCommandOutput.countOf(rows, "row") + " written to " + name;
        return command.output.print(
                TerminalJsonFormatter.newObject().put("file", name).put("rows", rows),
                () -> command.output.printMessage(written));
    }

    private long write(BufferedWriter out) throws IOException {
        CliApiClient api = command.connection.api();
        long rows = 0;
        String after = "";
        do {
            JsonNode page = api.send(firstPage
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
