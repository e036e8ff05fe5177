package dev.semel.server.cli.setting;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

@Command(name = "list", description = "Lists alerts with their metric, threshold, state and last notification error.")
public final class AlertListCommand extends CliListCommand {
    private final Map<String, JsonNode> states = new HashMap<>();

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(
                        CliApiRequest.get("v1", "alerts"),
                        "alert list",
                        "no alerts. Create one: semel alert save NAME alert.json")
                .addText("ALERT", "name")
                .addColumn(
                        "STATE",
                        item -> state(item).path("firing").asBoolean(false)
                                ? output.red("firing")
                                : output.green("quiet"))
                .addCell("SINCE", (item, _, now) -> output.formatTime(state(item), "since", now))
                .addColumn("METRIC", item -> TerminalJsonFormatter.text(item.path("document"), "metric"))
                .addColumn("THRESHOLD", item -> TerminalJsonFormatter.text(item.path("document"), "above"))
                .addColumn("WINDOW", item -> TerminalJsonFormatter.text(item.path("document"), "over"))
                .addColumn("WORKFLOW", item -> TerminalJsonFormatter.text(item.path("document"), "workflow"))
                .addColumn("TO", item -> TerminalJsonFormatter.text(item.path("document"), "to"))
                .addColumn("ERROR", item -> TerminalJsonFormatter.text(state(item), "notify_error"));
    }

    private JsonNode state(JsonNode item) {
        return states.computeIfAbsent(
                TerminalJsonFormatter.text(item, "name"),
                name -> send(CliApiRequest.get("v1", "alerts", name, "state")));
    }
}
