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

@Command(
        name = "backtest",
        description = "Tells what other windows would have made of the traffic that came. Changes nothing.",
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
            description = "Windows to try, 12h,24h,48h unless told.")
    List<String> windows = new ArrayList<>(List.of("12h", "24h", "48h"));

    @Option(names = "--step", paramLabel = "STEP", description = "The window of this step's messages.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", description = "Its name or id.")
    String workflow = "";

    BacktestCommand(Surroundings around) {
        this.output = new Output(around);
        this.connection = new Connection(around);
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
        output.talk(Json.text(answer.body(), "asked") + " requests looked at"
                + (current.isEmpty() ? "" : "; the window is " + current + " now"));
        return Exit.DONE;
    }
}
