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
    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Mixin
    final PagingOptions listing = new PagingOptions();

    AlertsCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        ApiClient api = connection.api();
        ApiResponse answer = api.send(listing.addPaging(ApiRequest.get(ApiRequest.path("v1", "alerts"))));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        JsonNode items = answer.body().path("items");
        TextTable table = new TextTable("ALERT", "STATE", "SINCE", "METRIC", "THRESHOLD", "WINDOW", "WORKFLOW", "TO", "ERROR");
        for (JsonNode item : items) {
            String name = TerminalJson.text(item, "name");
            JsonNode document = item.path("document");
            JsonNode state =
                    api.send(ApiRequest.get(ApiRequest.path("v1", "alerts", name, "state"))).body();
            boolean firing = state.path("firing").asBoolean(false);
            table.addRow(
                    name,
                    firing ? output.red("firing") : output.green("quiet"),
                    PagingOptions.formatTime(output, state, "since", now),
                    TerminalJson.text(document, "metric"),
                    TerminalJson.text(document, "above"),
                    TerminalJson.text(document, "over"),
                    TerminalJson.text(document, "workflow"),
                    TerminalJson.text(document, "to"),
                    TerminalJson.text(state, "notify_error"));
        }
        if (!items.isEmpty()) {
            table.print(output);
        }
        PagingOptions.printFooter(output, answer.body(), "alerts", "no alerts. Create one: semel alert put NAME alert.json");
        return ExitCode.OK;
    }
}
