package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

@Command(
        name = "alerts",
        description = "Lists the alerts: what each watches, whether it fires, and whether somebody was told.")
final class AlertsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    AlertsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Api api = connection.api();
        Answer answer = api.ask(listing.page(Call.get(Call.path("v1", "alerts"))));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(around.clock().instant());
        JsonNode items = answer.body().path("items");
        Table table = new Table("ALERT", "STATE", "SINCE", "SIGNAL", "ABOVE", "OVER", "WORKFLOW", "TO", "TROUBLE");
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
        Listing.end(output, answer.body(), "alerts", "no alerts here. Make one: semel alert put NAME alert.json");
        return Exit.DONE;
    }
}
