package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "backtest",
        description = "Shows how other key windows would have handled the recorded traffic. Changes nothing.",
        footer = {
            "  semel workflow backtest payment_receipt --window 12h,24h,48h",
            "  semel workflow backtest new_lead --step welcome --window 6h,12h"
        })
public final class IdempotencyWindowBacktestCommand extends CliApiCommand {
    @Option(
            names = "--window",
            paramLabel = "WINDOW",
            split = ",",
            description = "Windows to try. Default: 12h,24h,48h.")
    List<String> windows = new ArrayList<>(List.of("12h", "24h", "48h"));

    @Option(
            names = "--step",
            paramLabel = "STEP",
            description = "Test the key window of this step's effects, not of the trigger.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Override
    public Integer call() {
        ObjectNode body = TerminalJsonFormatter.newObject().put("workflow", workflow);
        TerminalJsonFormatter.putText(body, "step", step);
        windows.forEach(body.putArray("windows")::add);
        CliApiResponse answer =
                connection.api().send(CliApiRequest.post("v1", "backtests").withJson(body));
        if (output.json) {
            return printJson(answer.body());
        }
        String fresh = step.isEmpty() ? "runs" : "sent";
        String repeated = step.isEmpty() ? "replayed" : "suppressed";
        TextTable table = new TextTable("WINDOW", fresh.toUpperCase(Locale.ROOT), repeated.toUpperCase(Locale.ROOT));
        for (JsonNode one : answer.body().path("windows")) {
            table.addRow(
                    TerminalJsonFormatter.text(one, "window"),
                    TerminalJsonFormatter.text(one, fresh),
                    TerminalJsonFormatter.text(one, repeated));
        }
        table.print(output);
        String current = TerminalJsonFormatter.text(answer.body(), "window");
        output.printMessage(TerminalJsonFormatter.text(answer.body(), "examined") + " requests evaluated"
                + (current.isEmpty() ? "" : "; the current window is " + current));
        return ExitCode.OK;
    }
}
