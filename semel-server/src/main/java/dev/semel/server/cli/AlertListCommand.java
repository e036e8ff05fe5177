package dev.semel.server.cli;

import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** `semel alert list`: lists alerts with their metric, threshold and state. */
@Command(name = "list", description = "Lists alerts with their metric, threshold, state and last notification error.")
final class AlertListCommand extends ListCommand {
    private final Map<String, JsonNode> states = new HashMap<>();

    AlertListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "alerts")),
                        "alert list",
                        "no alerts. Create one: semel alert save NAME alert.json")
                .addText("ALERT", "name")
                .addColumn(
                        "STATE",
                        item -> state(item).path("firing").asBoolean(false)
                                ? output.red("firing")
                                : output.green("quiet"))
                .addCell("SINCE", (item, _, now) -> PagingOptions.formatTime(output, state(item), "since", now))
                .addColumn("METRIC", item -> TerminalJson.text(item.path("document"), "metric"))
                .addColumn("THRESHOLD", item -> TerminalJson.text(item.path("document"), "above"))
                .addColumn("WINDOW", item -> TerminalJson.text(item.path("document"), "over"))
                .addColumn("WORKFLOW", item -> TerminalJson.text(item.path("document"), "workflow"))
                .addColumn("TO", item -> TerminalJson.text(item.path("document"), "to"))
                .addColumn("ERROR", item -> TerminalJson.text(state(item), "notify_error"));
    }

    private JsonNode state(JsonNode item) {
        return states.computeIfAbsent(
                TerminalJson.text(item, "name"),
                name -> send(ApiRequest.get(ApiRequest.path("v1", "alerts", name, "state"))));
    }
}
