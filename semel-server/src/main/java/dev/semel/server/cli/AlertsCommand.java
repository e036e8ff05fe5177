package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** `semel alerts`: lists alerts with their metric, threshold and state. */
@Command(
        name = "alerts",
        description = "Lists alerts with their metric, threshold, state and last notification error.")
final class AlertsCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    AlertsCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        Api api = connection.api();
        Answer answer = api.ask(listing.page(Call.get(Call.path("v1", "alerts"))));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        JsonNode items = answer.body().path("items");
        Table table = new Table("ALERT", "STATE", "SINCE", "METRIC", "THRESHOLD", "WINDOW", "WORKFLOW", "TO", "ERROR");
        for (JsonNode item : items) {
            String name = Json.text(item, "name");
            JsonNode document = item.path("document");
            JsonNode state =
                    api.ask(Call.get(Call.path("v1", "alerts", name, "state"))).body();
            boolean firing = state.path("firing").asBoolean(false);
            table.row(
                    name,
                    firing ? output.red("firing") : output.green("quiet"),
                    Listing.when(output, state, "since", now),
                    Json.text(document, "signal"),
                    Json.text(document, "above"),
                    Json.text(document, "over"),
                    Json.text(document, "workflow"),
                    Json.text(document, "to"),
                    Json.text(state, "trouble"));
        }
        if (!items.isEmpty()) {
            table.print(output);
        }
        Listing.end(output, answer.body(), "alerts", "no alerts. Create one: semel alert put NAME alert.json");
        return Exit.DONE;
    }
}
