package dev.semel.server.cli;

import dev.semel.server.demo.DemoEnvironment;
import dev.semel.server.demo.DemoProvider;
import dev.semel.server.demo.DemoProviderServer;
import dev.semel.server.demo.DevServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Callable;
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
                "Kills a server after a provider acted and before the server recorded it, restarts it, counts effects.")
final class CrashDemo implements Callable<Integer> {
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

    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    CrashDemo(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
    }

    @Override
    public Integer call() {
        try (DemoEnvironment sandbox = DemoEnvironment.open()) {
            return runDemo(sandbox);
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private int runDemo(DemoEnvironment sandbox) throws IOException, InterruptedException {
        DemoProviderServer playground = sandbox.providers();
        sandbox.writeWorkflow("crash_demo", WORKFLOW.replace("PLAYGROUND", playground.url()));
        DevServerProcess first = sandbox.startServer();
        say("server", "process " + first.pid() + " accepts a trigger with the key " + KEY);
        CountDownLatch killed = new CountDownLatch(1);
        playground.dropNextResponse(DemoProvider.LICENSES, () -> {
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
        DevServerProcess second = sandbox.startServer();
        say("server", "process " + second.pid() + " starts on the same folder and finds an intent without a result");
        JsonNode end = end(second);
        return report(end, playground.counts(DemoProvider.LICENSES), playground);
    }

    /** The response may be lost with the server. A repeat with the same key returns the same run. */
    private static void trigger(DevServerProcess server) {
        try {
            api(server).exchange(triggering());
        } catch (NoResponseException expected) {
            return;
        }
    }

    private static ApiRequest triggering() {
        return ApiRequest.post(
                        ApiRequest.path("v1", "workflows", "crash_demo", "trigger"),
                        "{\"data\":{\"order\":\"order-1\"}}")
                .withHeader("Idempotency-Key", KEY);
    }

    private static ApiClient api(DevServerProcess server) {
        return new ApiClient(server.address(), "dev");
    }

    private JsonNode end(DevServerProcess server) {
        ApiClient api = api(server);
        ApiResponse again = api.send(triggering());
        if (!(again.body() instanceof ObjectNode answer)
                || !answer.path("idempotent_replayed").booleanValue()) {
            throw broken("the server lost the trigger that it had admitted before the crash");
        }
        say("caller", "sends the same key again and gets the same run, " + TerminalJson.text(answer, "run_id"));
        new RunWaiter(api, environment)
                .awaitEnd(answer, environment.clock().instant().plus(PATIENCE), BETWEEN_LOOKS);
        // Read the run in any case: a repeat after its end returns only the status.
        return api.send(ApiRequest.get(ApiRequest.path("v1", "runs", TerminalJson.text(answer, "run_id"))))
                .body();
    }

    private int report(JsonNode end, DemoProviderServer.CallCounts counts, DemoProviderServer playground) {
        String status = TerminalJson.text(end, "status");
        if (output.json) {
            ObjectNode document = TerminalJson.newObject()
                    .put("run_id", TerminalJson.text(end, "run_id"))
                    .put("status", status);
            document.set("output", end.path("output"));
            output.printJson(document.put("calls", counts.calls()).put("effects", counts.effects()));
        } else {
            say("run", output.colourStatus(status) + ", license " + TerminalJson.text(end.path("output"), "license"));
            output.printLine(counted(playground));
        }
        boolean once = status.equals("completed") && counts.calls() == 2 && counts.effects() == 1;
        return once ? ExitCode.OK : ExitCode.FAILED;
    }

    private static String counted(DemoProviderServer playground) {
        DemoProviderServer.CallCounts counts = playground.counts(DemoProvider.LICENSES);
        return counts.calls()
                + (counts.calls() == 1 ? " call, " : " calls, ")
                + counts.effects()
                + (counts.effects() == 1 ? " effect" : " effects");
    }

    private void say(String who, String what) {
        if (!output.json) {
            output.printLine("%-9s %s".formatted(who, what));
        }
    }

    private static CommandFailure broken(String why) {
        return CommandFailure.create(
                ExitCode.FAILED,
                "demo-failed",
                "The demonstration did not finish: " + why + ". Its servers are stopped and its folder is deleted.",
                "Run it again. `semel doctor` checks what a server needs.");
    }
}
