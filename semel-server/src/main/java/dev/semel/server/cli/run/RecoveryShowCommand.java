package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.time.Instant;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

@Command(
        name = "show",
        description =
                "Shows how many runs with an unknown outcome lose safe re-send in the next hour and in the next day.",
        footer = {"  semel recovery show"})
public final class RecoveryShowCommand extends CliApiCommand {
    @Override
    public Integer call() {
        CliApiResponse answer = connection.api().send(CliApiRequest.get("v1", "recovery"));
        JsonNode body = answer.body();
        if (output.json) {
            return printJson(body);
        }
        Instant now = now(answer);
        TextTable table = new TextTable("WORKFLOW", "RUNS", "IN AN HOUR", "IN A DAY", "SOONEST");
        for (JsonNode one : body.path("workflows")) {
            table.addRow(
                    TerminalJsonFormatter.text(one, "workflow"),
                    TerminalJsonFormatter.text(one, "runs"),
                    TerminalJsonFormatter.text(one, "lose_safe_resend_within_hour"),
                    TerminalJsonFormatter.text(one, "lose_safe_resend_within_day"),
                    output.formatTime(one, "soonest", now));
        }
        if (body.path("workflows").isEmpty()) {
            output.printMessage("No run has an unknown outcome that is safe to send again.");
            return ExitCode.OK;
        }
        table.print(output);
        output.suggestCommand("semel replay plan \"status:failed\"");
        return ExitCode.OK;
    }
}
