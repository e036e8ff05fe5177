package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel objects`: lists business objects that steps wrote more than once. */
@Command(
        name = "objects",
        description =
                "Lists objects that were written more than once: orders, leads, or whatever steps"
                        + " declare as object.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel objects --since 7d", "  semel objects --more 0 new_lead"})
final class ObjectsCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--more", paramLabel = "N", description = "Only objects with more writes than this. Default: 1.")
    int more = 1;

    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of rows. Default: 50.")
    int limit = 50;

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    ObjectsCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
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
        Instant now = answer.date().orElse(environment.clock().instant());
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
            output.talk("no object was written more than " + (more == 1 ? "once" : more + " times"));
        } else {
            table.print(output);
        }
        return Exit.DONE;
    }
}
