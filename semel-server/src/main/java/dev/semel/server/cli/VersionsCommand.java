package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "versions",
        description = "Lists the versions of a workflow, newest first, and who gets which.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel versions payment_receipt"})
final class VersionsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    VersionsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Answer answer =
                connection.api().ask(listing.page(Call.get(Call.path("v1", "workflows", workflow, "versions"))));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = around.clock().instant();
        Table table = new Table("VERSION", "ROLE", "TRIGGERS", "PUBLISHED", "BY");
        for (JsonNode version : answer.body().path("items")) {
            Instant published = Json.instant(version, "published_at");
            boolean past = Json.text(version, "role").equals("past");
            table.row(
                    Json.text(version, "version"),
                    Json.text(version, "role"),
                    past ? "" : Json.text(version, "share") + " %",
                    published == null ? "" : output.when(published, now),
                    Json.text(version, "actor_id"));
        }
        table.print(output);
        Listing.end(output, answer.body(), "versions", "no versions");
        return Exit.DONE;
    }
}
