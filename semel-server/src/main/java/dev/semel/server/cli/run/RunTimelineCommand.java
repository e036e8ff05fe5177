package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "timeline",
        description = "Shows the steps of a run: kind, protection, status and number of attempts.",
        footer = {"  semel run timeline run_9kXmP2vQwL", "  semel run timeline run_9kXmP2vQwL --json"})
public final class RunTimelineCommand extends CliApiCommand {
    @Parameters(paramLabel = "RUN", description = "The id of the run.")
    String run = "";

    @Override
    public Integer call() {
        ObjectNode whole = whole();
        if (output.json) {
            return printJson(whole);
        }
        JsonNode items = whole.path("items");
        if (items.isEmpty()) {
            output.printMessage("no step is recorded yet");
            return ExitCode.OK;
        }
        TextTable table = new TextTable("STEP", "KIND", "PROTECTION", "STATUS", "ATTEMPTS", "EFFECT KEY", "SENT KEY");
        for (JsonNode step : items) {
            table.addRow(
                    TerminalJsonFormatter.text(step, "path"),
                    TerminalJsonFormatter.text(step, "kind"),
                    TerminalJsonFormatter.text(step, "protection"),
                    status(TerminalJsonFormatter.text(step, "status")),
                    attempts(step.path("attempts")),
                    TerminalJsonFormatter.text(step, "effect_key"),
                    TerminalJsonFormatter.text(step, "sent_key"));
        }
        table.print(output);
        for (JsonNode resumed : whole.path("resumed")) {
            output.printLine("resumed by " + TerminalJsonFormatter.text(resumed, "by") + ": "
                    + TerminalJsonFormatter.text(resumed, "reason"));
        }
        for (JsonNode step : items) {
            String by = TerminalJsonFormatter.text(step, "skipped_by");
            if (!by.isEmpty()) {
                output.printLine(TerminalJsonFormatter.text(step, "path") + " skipped by " + by + ": "
                        + TerminalJsonFormatter.text(step, "reason"));
            }
        }
        return ExitCode.OK;
    }

    /** The number of attempts, and how many of them a crash cut off. */
    private static String attempts(JsonNode attempts) {
        int lost = 0;
        for (JsonNode attempt : attempts) {
            lost += TerminalJsonFormatter.text(attempt, "outcome").equals("lost") ? 1 : 0;
        }
        return attempts.size() + (lost == 0 ? "" : " (" + lost + " lost)");
    }

    /** Reads all pages into one document. */
    private ObjectNode whole() {
        CliApiClient api = connection.api();
        CliApiRequest call = CliApiRequest.get("v1", "runs", run, "timeline");
        ObjectNode whole = (ObjectNode) api.send(call).body();
        while (!TerminalJsonFormatter.text(whole, "next").isEmpty()) {
            JsonNode more = api.send(call.withQuery("after", TerminalJsonFormatter.text(whole, "next")))
                    .body();
            ((ArrayNode) whole.path("items")).addAll((ArrayNode) more.path("items"));
            whole.set("next", more.path("next"));
        }
        return whole;
    }

    private String status(String word) {
        return switch (word) {
            case "suppressed", "in_doubt", "skipped", "silent" -> output.yellow(word);
            case "failed" -> output.red(word);
            default -> word;
        };
    }
}
