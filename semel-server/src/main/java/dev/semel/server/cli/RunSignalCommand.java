package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** `semel run signal`: sends a signal to a run, or to all runs that wait with a key. */
@Command(
        name = "signal",
        description = {
            "Sends a signal: to a run, or with --key to all runs that wait with that key.",
            "With the same id it arrives once. If no run waits for it, the server stores it: by key for 7 days."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel run signal run_9kXmP2vQwL payment.captured --id evt_7 --data '{\"amount\": 4900}'",
            "  semel run signal --key order_1 payment.captured --id evt_7 --data '{\"amount\": 4900}'"
        })
final class RunSignalCommand extends ApiCommand {
    @Parameters(
            arity = "1..2",
            paramLabel = "[RUN] NAME",
            description = "Id of the run, unless --key is given, and name of the signal.")
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

    RunSignalCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        boolean toRun = words.size() == 2;
        if (!toRun && key == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Pass RUN NAME for one run, or --key KEY NAME for all that wait with that key.");
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (data != null) {
            body.set("data", dev.semel.json.StrictJson.parse(data));
        }
        String name = words.getLast();
        ApiRequest call = toRun
                ? ApiRequest.post(ApiRequest.path("v1", "runs", words.getFirst(), "signals", name), body.toString())
                : ApiRequest.post(
                        ApiRequest.path("v1", "signals", name),
                        body.put("key", key).toString());
        String once = id != null || !toRun ? id : key;
        JsonNode response = send(once == null ? call : call.withHeader("Idempotency-Key", once));
        if (output.json) {
            output.printJson(response);
        }
        return toRun ? toRun(response) : toKey(response);
    }

    private int toRun(JsonNode response) {
        boolean delivered = response.path("delivered").booleanValue();
        if (!output.json && delivered) {
            output.printLine("delivered " + words.getFirst() + " (" + TerminalJson.text(response, "status") + ")");
        } else if (!output.json) {
            output.printMessage("not delivered: it arrived before, or the run has ended");
        }
        return delivered ? ExitCode.OK : ExitCode.FAILED;
    }

    private int toKey(JsonNode response) {
        if (output.json) {
            return ExitCode.OK;
        }
        response.path("runs").forEach(run -> output.printLine("delivered " + run.asString()));
        if (response.path("runs").isEmpty()) {
            output.printLine("stored until " + TerminalJson.text(response, "stored_until")
                    + " for the first run that waits with this key");
        }
        return ExitCode.OK;
    }
}
