package dev.semel.server.cli;

import dev.semel.server.demo.Child;
import dev.semel.server.demo.Playground;
import dev.semel.server.demo.Provider;
import dev.semel.server.demo.Sandbox;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Demonstrates a crash after the provider acted and before the server recorded the response. The server is a separate
 * process; the provider kills it while it waits for the response.
 */
final class CrashShow {
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

    private final Surroundings environment;
    private final Output output;

    CrashShow(Surroundings environment, Output output) {
        this.environment = environment;
        this.output = output;
    }

    int run() {
        try (Sandbox sandbox = Sandbox.open()) {
            return runDemo(sandbox);
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private int runDemo(Sandbox sandbox) throws IOException, InterruptedException {
        Playground playground = sandbox.playground();
        sandbox.workflow("crash_demo", WORKFLOW.replace("PLAYGROUND", playground.url()));
        Child first = sandbox.start();
        say("server", "process " + first.pid() + " accepts a trigger with the key " + KEY);
        CountDownLatch killed = new CountDownLatch(1);
        playground.lose(Provider.LICENSES, () -> {
            first.kill();
            killed.countDown();
        });
        trigger(first);
        if (!killed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw broken("the provider was not called within " + PATIENCE.toSeconds() + " s");
        }
        say(
                "provider",
                "issues the license and kills process " + first.pid() + " before the response arrives: " + counted(playground));
        Child second = sandbox.start();
        say("server", "process " + second.pid() + " starts on the same folder and finds an intent without a result");
        JsonNode end = end(second);
        return report(end, playground.counts(Provider.LICENSES), playground);
    }

    /** The response may be lost with the server. A repeat with the same key returns the same run. */
    private static void trigger(Child server) {
        try {
            api(server).exchange(triggering());
        } catch (NoAnswer expected) {
            return;
        }
    }

    private static Call triggering() {
        return Call.post(Call.path("v1", "workflows", "crash_demo", "trigger"), "{\"data\":{\"order\":\"order-1\"}}")
                .with("Idempotency-Key", KEY);
    }

    private static Api api(Child server) {
        return new Api(server.address(), "dev");
    }

    private JsonNode end(Child server) {
        Api api = api(server);
        Answer again = api.ask(triggering());
        if (!(again.body() instanceof ObjectNode answer)
                || !answer.path("idempotent_replayed").booleanValue()) {
            throw broken("the server lost the trigger that it had admitted before the crash");
        }
        say("caller", "sends the same key again and gets the same run, " + Json.text(answer, "run_id"));
        new Waiting(api, environment).forEnd(answer, environment.clock().instant().plus(PATIENCE), BETWEEN_LOOKS);
        // Read the run in any case: a repeat after its end returns only the status.
        return api.ask(Call.get(Call.path("v1", "runs", Json.text(answer, "run_id"))))
                .body();
    }

    private int report(JsonNode end, Playground.Counts counts, Playground playground) {
        String status = Json.text(end, "status");
        if (output.json) {
            ObjectNode document =
                    Json.object().put("run_id", Json.text(end, "run_id")).put("status", status);
            document.set("output", end.path("output"));
            output.document(document.put("calls", counts.calls()).put("effects", counts.effects()));
        } else {
            say("run", output.status(status) + ", license " + Json.text(end.path("output"), "license"));
            output.line(counted(playground));
        }
        boolean once = status.equals("completed") && counts.calls() == 2 && counts.effects() == 1;
        return once ? Exit.DONE : Exit.FAILED;
    }

    private static String counted(Playground playground) {
        Playground.Counts counts = playground.counts(Provider.LICENSES);
        return counts.calls()
                + (counts.calls() == 1 ? " call, " : " calls, ")
                + counts.effects()
                + (counts.effects() == 1 ? " effect" : " effects");
    }

    private void say(String who, String what) {
        if (!output.json) {
            output.line("%-9s %s".formatted(who, what));
        }
    }

    private static Failure broken(String why) {
        return Failure.here(
                Exit.FAILED,
                "demo-failed",
                "The demonstration did not finish: " + why
                        + ". Its servers are stopped and its folder is deleted.",
                "Run it again. `semel doctor` checks what a server needs.");
    }
}
