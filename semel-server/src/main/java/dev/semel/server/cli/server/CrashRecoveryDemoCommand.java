package dev.semel.server.cli.server;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommand;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliNoServerResponseException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.trigger.CliRunCompletionPoller;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.server.demo.DevServerChildProcess;
import dev.semel.server.demo.TemporaryDevServerEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * `semel demo crash`: demonstrates a crash after the provider acted and before the server recorded the response. The server is a separate
 * process; the provider kills it while it waits for the response.
 */
@Command(
        name = "crash",
        description =
                "Kills a server after a provider acted but before the server recorded the response. Then restarts the"
                        + " server and counts the effects.")
public final class CrashRecoveryDemoCommand extends CliCommand {
    private static final String KEY = "order-1";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);
    private static final String WORKFLOW = """
        semel: 1
        workflow: crash_demo
        owner: you@example.com
        steps:
          - id: issue_license
            http:
              method: POST
              url: PLAYGROUND/licenses
              body: { order: "${ input.order }" }
            protect: provider_key
            provider_window: 24h
        output:
          license: ${ steps.issue_license.serial }
        """;

    @Mixin
    final CliCommandOutput output = new CliCommandOutput();

    @Override
    public Integer call() {
        try (TemporaryDevServerEnvironment sandbox = TemporaryDevServerEnvironment.open()) {
            return runDemo(sandbox);
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private int runDemo(TemporaryDevServerEnvironment sandbox) throws IOException, InterruptedException {
        DemoExternalApiServer playground = sandbox.providers();
        sandbox.writeWorkflow("crash_demo", WORKFLOW.replace("PLAYGROUND", playground.url()));
        DevServerChildProcess first = sandbox.startServer();
        say("server", "process " + first.pid() + " accepts a trigger with the key " + KEY);
        CountDownLatch killed = new CountDownLatch(1);
        playground.dropNextResponse(DemoExternalApi.LICENSES, () -> {
            first.kill();
            killed.countDown();
        });
        trigger(first);
        if (!killed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw broken("the provider was not called within " + PATIENCE.toSeconds() + " s");
        }
        say(
                "provider",
                "issues the license and kills process " + first.pid() + " before the response arrives: "
                        + counted(playground));
        DevServerChildProcess second = sandbox.startServer();
        say(
                "server",
                "process " + second.pid()
                        + " starts on the same data folder and finds a recorded call without a result");
        JsonNode end = end(second);
        return report(end, playground.counts(DemoExternalApi.LICENSES), playground);
    }

    /** The response may be lost with the server. A repeat with the same key returns the same run. */
    private static void trigger(DevServerChildProcess server) {
        try {
            api(server).exchange(triggering());
        } catch (CliNoServerResponseException expected) {
            return;
        }
    }

    private static CliApiRequest triggering() {
        return CliApiRequest.post("v1", "workflows", "crash_demo", "trigger")
                .withJson("{\"data\":{\"order\":\"order-1\"}}")
                .withHeader("Idempotency-Key", KEY);
    }

    private static CliApiClient api(DevServerChildProcess server) {
        return new CliApiClient(server.address(), "dev");
    }

    private JsonNode end(DevServerChildProcess server) {
        CliApiClient api = api(server);
        CliApiResponse again = api.send(triggering());
        if (!(again.body() instanceof ObjectNode answer)
                || !answer.path("idempotent_replayed").booleanValue()) {
            throw broken("the server lost the trigger that it had admitted before the crash");
        }
        say(
                "caller",
                "sends the same key again and gets the same run, " + TerminalJsonFormatter.text(answer, "run_id"));
        new CliRunCompletionPoller(api, environment())
                .awaitEnd(answer, environment().clock().instant().plus(PATIENCE), BETWEEN_LOOKS);
        // Read the run in any case: a repeat after its end returns only the status.
        return api.send(CliApiRequest.get("v1", "runs", TerminalJsonFormatter.text(answer, "run_id")))
                .body();
    }

    private int report(JsonNode end, DemoExternalApiServer.CallCounts counts, DemoExternalApiServer playground) {
        String status = TerminalJsonFormatter.text(end, "status");
        if (output.json) {
            ObjectNode document = TerminalJsonFormatter.newObject()
                    .put("run_id", TerminalJsonFormatter.text(end, "run_id"))
                    .put("status", status);
            document.set("output", end.path("output"));
            output.printJson(document.put("calls", counts.calls()).put("effects", counts.effects()));
        } else {
            say(
                    "run",
                    output.colourStatus(status) + ", license "
                            + TerminalJsonFormatter.text(end.path("output"), "license"));
            output.printLine(counted(playground));
        }
        boolean once = status.equals("completed") && counts.calls() == 2 && counts.effects() == 1;
        return once ? ExitCode.OK : ExitCode.FAILED;
    }

    private static String counted(DemoExternalApiServer playground) {
        DemoExternalApiServer.CallCounts counts = playground.counts(DemoExternalApi.LICENSES);
        return CliCommandOutput.countOf(counts.calls(), "call") + ", "
                + CliCommandOutput.countOf(counts.effects(), "effect");
    }

    private void say(String who, String what) {
        if (!output.json) {
            output.printLine("%-9s %s".formatted(who, what));
        }
    }

    private static CliCommandException broken(String why) {
        return CliCommandException.create(
                ExitCode.FAILED,
                "demo-failed",
                "The demonstration did not finish: " + why + ". Its servers are stopped and its folder is deleted.",
                "Run the command again. `semel doctor` checks what a server needs.");
    }
}
