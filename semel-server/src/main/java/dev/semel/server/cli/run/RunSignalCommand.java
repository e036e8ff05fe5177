package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "signal",
        description = {
            "Sends a signal: to a run, or with --key to all runs that wait with that key.",
            "Signals with the same --id are delivered once. The server stores a signal that no run waits for yet. With"
                    + " --key, it stores the signal for 7 days."
        },
        footer = {
            "  semel run signal run_9kXmP2vQwL payment.captured --id evt_7 --data '{\"amount\": 4900}'",
            "  semel run signal --key order_1 payment.captured --id evt_7 --data '{\"amount\": 4900}'"
        })
public final class RunSignalCommand extends CliApiCommand {
    @Parameters(
            arity = "1..2",
            paramLabel = "[RUN] NAME",
            description = "Id of the run (omit it with --key), then the name of the signal.")
    List<String> words = new ArrayList<>();

    @Option(names = "--data", paramLabel = "JSON", description = "Payload of the signal. Default: none.")
    @Nullable
    String data;

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = {"Without RUN: the key with which runs wait for the signal.", "With RUN: the same as --id."})
    @Nullable
    String key;

    @Option(
            names = "--id",
            paramLabel = "ID",
            description = "Deduplicates the signal: repeats with the same id have no effect.")
    @Nullable
    String id;

    @Override
    public Integer call() {
        boolean toRun = words.size() == 2;
        if (!toRun && key == null) {
            throw usage(
                    "Pass RUN NAME to signal one run, or --key KEY NAME to signal all runs that wait with that key.");
        }
        ObjectNode body = TerminalJsonFormatter.newObject();
        if (data != null) {
            body.set("data", dev.semel.json.StrictJsonCodec.parse(data));
        }
        String name = words.getLast();
        CliApiRequest call = toRun
                ? CliApiRequest.post("v1", "runs", words.getFirst(), "signals", name)
                        .withJson(body)
                : CliApiRequest.post("v1", "signals", name).withJson(body.put("key", key));
        String once = id != null || !toRun ? id : key;
        JsonNode response = send(once == null ? call : call.withHeader("Idempotency-Key", once));
        if (toRun) {
            String unchanged = "the signal was not delivered: the server received it before, or the run has ended";
            return printAction(response, "delivered", words.getFirst(), unchanged);
        }
        return output.print(response, () -> {
            response.path("runs").forEach(run -> output.printLine("delivered " + run.asString()));
            if (response.path("runs").isEmpty()) {
                output.printLine("stored until " + TerminalJsonFormatter.text(response, "stored_until")
                        + " for the first run that waits with this key");
            }
        });
    }
}
