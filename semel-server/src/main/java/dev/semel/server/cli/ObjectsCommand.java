package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "objects",
        description = "Lists what was written to more than once: orders, leads, whatever steps name as their object.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel objects --since 7d", "  semel objects --more 0 new_lead"})
final class ObjectsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Option(names = "--since", paramLabel = "AGE", description = "How far back, 24h unless told; or a time.")
    String since = "24h";

    @Option(names = "--more", paramLabel = "N", description = "With more writes than that, 1 unless told.")
    int more = 1;

    @Option(names = "--limit", paramLabel = "N", description = "At most so many, 50 unless told.")
    int limit = 50;

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Of this workflow; of all unless told.")
    String workflow = "";

    ObjectsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Answer answer = connection
                .api()
                .ask(Call.get(Call.path("v1", "objects"))
                        .where("since", since)
                        .where("having", "writes>" + more)
                        .where("limit", Integer.toString(limit))
                        .where("workflow", workflow));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(around.clock().instant());
        JsonNode items = answer.body().path("items");
        Table table = new Table("OBJECT", "WRITES", "WORKFLOW", "FIRST", "LAST");
        for (JsonNode item : items) {
            table.row(
                    Json.text(item, "object"),
                    Json.text(item, "writes"),
                    Json.text(item, "workflow"),
                    Listing.when(output, item, "first_at", now),
                    Listing.when(output, item, "last_at", now));
        }
        if (items.isEmpty()) {
            output.talk("nothing was written to more than " + (more == 1 ? "once" : more + " times"));
        } else {
            table.print(output);
        }
        return Exit.DONE;
    }
}
