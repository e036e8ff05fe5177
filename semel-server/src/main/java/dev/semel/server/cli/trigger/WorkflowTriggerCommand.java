package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliPayloadArgumentReader;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "send",
        description = "Triggers a workflow. A repeat with the same key returns the same run.",
        footer = {
            "  semel send payment_receipt --key evt_1 --data '{\"payment_id\":\"pay_abc\",\"amount\":4900}'",
            "  semel send payment_receipt --key evt_1 --data @payment.json --wait",
            "  semel send payment_receipt --key evt_1 --data @payment.json --times 3",
            "",
            "With --wait the exit code shows how the run ended (0 completed, 1 failed or not ended in time,",
            "4 in doubt). Without --wait, 0 means that the server accepted the trigger or a duplicate of it."
        })
public final class WorkflowTriggerCommand extends CliApiCommand {
    /** The server delays a response at most this long; longer waits poll the run. */
    private static final Duration LONGEST_HOLD = Duration.ofSeconds(30);

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    private static final String BARE_KEY = "[\\x21-\\x7e&&[^\"]]([\\x20-\\x7e]{0,253}[\\x21-\\x7e])?";
    /** The server validates the content; this only checks what a header can carry. */
    private static final String QUOTED_KEY = "\"[\\x20-\\x7e]{1,600}";

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Option(names = "--key", paramLabel = "KEY", description = "Idempotency key of the action, e.g. an event id.")
    @Nullable
    String key;

    @Option(names = "--data", paramLabel = "JSON", description = "The payload: JSON, @FILE, or - for stdin.")
    @Nullable
    String data;

    @Option(
            names = "--wait",
            paramLabel = "DURATION",
            arity = "0..1",
            parameterConsumer = WaitOptionParser.class,
            description = "Wait for the end of the run, at most this long. Default: 30s.")
    @Nullable
    Duration wait;

    @Option(
            names = "--times",
            paramLabel = "N",
            description = "Send the trigger N times, to see how the server handles duplicates.")
    int times = 1;

    @Option(names = "--run-id", paramLabel = "ID", description = "Choose the id of the run.")
    @Nullable
    String runId;

    @Option(names = "--delay", paramLabel = "TIME", description = "Delay the start of a new run, e.g. 30s or 2h.")
    @Nullable
    String delay;

    @Option(
            names = "--strict",
            description = "Reject a different payload for an existing key, even if the workflow would accept it.")
    boolean strict;

    @Override
    public Integer call() {
        check();
        CliApiRequest trigger = trigger();
        CliApiClient api = connection.api();
        boolean named = key != null || runId != null;
        CliWorkflowTriggerClient sender = new CliWorkflowTriggerClient(api, environment(), output);
        CliTriggerResponsePrinter report = new CliTriggerResponsePrinter(output, key);
        if (!named && times > 1) {
            output.printMessage("no --key: each of the " + times + " triggers starts its own run");
        }
        List<ObjectNode> answers = new ArrayList<>();
        int exit = ExitCode.OK;
        for (int i = 0; i < times; i++) {
            Instant begun = environment().clock().instant();
            ObjectNode body = sender.sendForObject(trigger, named, () -> report.printBeforeFailure(answers));
            ObjectNode outcome = wait == null
                    ? body
                    : new CliRunCompletionPoller(api, environment()).awaitEnd(body, begun.plus(wait), BETWEEN_LOOKS);
            answers.add(outcome);
            report.printResponse(outcome, wait);
            exit = wait == null
                    ? exit
                    : Math.max(exit, ExitCode.forRunStatus(TerminalJsonFormatter.text(outcome, "status")));
        }
        report.printSummary(answers);
        return exit;
    }

    private CliApiRequest trigger() {
        StringBuilder body = new StringBuilder("{\"data\":")
                .append(data == null ? "{}" : CliPayloadArgumentReader.read(data, environment()));
        if (runId != null) {
            body.append(",\"run_id\":")
                    .append(TerminalJsonFormatter.compact(
                            TerminalJsonFormatter.newObject().stringNode(runId)));
        }
        if (delay != null) {
            body.append(",\"delay\":")
                    .append(TerminalJsonFormatter.compact(
                            TerminalJsonFormatter.newObject().stringNode(delay)));
        }
        CliApiRequest call = CliApiRequest.post("v1", "workflows", workflow, "trigger")
                .withJson(body.append('}').toString());
        if (key != null) {
            call = call.withHeader("Idempotency-Key", key);
        }
        if (strict) {
            call = call.withHeader("Prefer", "handling=strict");
        }
        if (wait != null) {
            Duration hold = wait.compareTo(LONGEST_HOLD) < 0 ? wait : LONGEST_HOLD;
            // The server counts whole seconds.
            call = call.withQuery("wait", Math.max(1, hold.toSeconds()) + "s").withTimeout(hold.plusSeconds(15));
        }
        return call;
    }

    private void check() {
        if (times < 1 || times > 1_000) {
            throw usage("--times must be between 1 and 1000, not " + times + ".");
        }
        if (key != null && !(key.matches(BARE_KEY) || key.matches(QUOTED_KEY))) {
            throw usage("--key must be 1 to 255 visible ASCII characters, with spaces only inside. Nothing was sent.");
        }
        if (delay != null && !CliDurationFormatter.isDuration(delay)) {
            throw usage("--delay must be a duration such as 30s, 5m or 2h. Nothing was sent.");
        }
        if (runId != null && !runId.matches("[\\x21-\\x7e&&[^/]]{1,128}")) {
            throw usage("--run-id must be 1 to 128 visible ASCII characters without a slash. Nothing was sent.");
        }
    }

    /** Consumes the next argument only if it is a duration: in `send --wait payment_receipt` it is the workflow. */
    static final class WaitOptionParser implements IParameterConsumer {
        @Override
        public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
            boolean given = !words.isEmpty() && CliDurationFormatter.isDuration(words.peek());
            option.setValue(given ? CliDurationFormatter.parse(words.pop()) : Duration.ofSeconds(30));
        }
    }
}
