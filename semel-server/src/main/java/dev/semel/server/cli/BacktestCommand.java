package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** `semel workflow backtest`: shows how other key windows would have handled the recorded traffic. */
@Command(
        name = "backtest",
        description = "Shows how other key windows would have handled the recorded traffic. Changes nothing.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel workflow backtest payment_receipt --window 12h,24h,48h",
            "  semel workflow backtest new_lead --step welcome --window 6h,12h"
        })
final class BacktestCommand extends ApiCommand {
    @Option(
            names = "--window",
            paramLabel = "WINDOW",
            split = ",",
            description = "Windows to try. Default: 12h,24h,48h.")
    List<String> windows = new ArrayList<>(List.of("12h", "24h", "48h"));

    @Option(names = "--step", paramLabel = "STEP", description = "Try the window of this step's messages instead.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", description = "Its name or id.")
    String workflow = "";

    BacktestCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("workflow", workflow);
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        ArrayNode list = body.putArray("windows");
        windows.forEach(list::add);
        ApiResponse answer = connection
                .api()
                .send(ApiRequest.post(ApiRequest.path("v1", "backtests"), TerminalJson.compactForRequest(body)));
        if (output.json) {
            return printJson(answer.body());
        }
        String fresh = step.isEmpty() ? "runs" : "sent";
        String repeated = step.isEmpty() ? "replayed" : "suppressed";
        TextTable table = new TextTable("WINDOW", fresh.toUpperCase(Locale.ROOT), repeated.toUpperCase(Locale.ROOT));
        for (JsonNode one : answer.body().path("windows")) {
            table.addRow(
                    TerminalJson.text(one, "window"), TerminalJson.text(one, fresh), TerminalJson.text(one, repeated));
        }
        table.print(output);
        String current = TerminalJson.text(answer.body(), "window");
        output.printMessage(TerminalJson.text(answer.body(), "examined") + " requests evaluated"
                + (current.isEmpty() ? "" : "; the current window is " + current));
        return ExitCode.OK;
    }
}
