package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** `semel backtest`: shows how other key windows would have handled the recorded traffic. */
@Command(
        name = "backtest",
        description = "Shows how other key windows would have handled the recorded traffic. Changes nothing.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel backtest payment_receipt --window 12h,24h,48h",
            "  semel backtest new_lead --step welcome --window 6h,12h"
        })
final class BacktestCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

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

    BacktestCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("workflow", workflow);
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        ArrayNode list = body.putArray("windows");
        windows.forEach(list::add);
        Answer answer = connection.api().ask(Call.post(Call.path("v1", "backtests"), Json.compactUnprinted(body)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        String fresh = step.isEmpty() ? "runs" : "sent";
        String repeated = step.isEmpty() ? "replayed" : "suppressed";
        Table table = new Table("WINDOW", fresh.toUpperCase(Locale.ROOT), repeated.toUpperCase(Locale.ROOT));
        for (JsonNode one : answer.body().path("windows")) {
            table.row(Json.text(one, "window"), Json.text(one, fresh), Json.text(one, repeated));
        }
        table.print(output);
        String current = Json.text(answer.body(), "window");
        output.talk(Json.text(answer.body(), "asked") + " requests evaluated"
                + (current.isEmpty() ? "" : "; the current window is " + current));
        return Exit.DONE;
    }
}
