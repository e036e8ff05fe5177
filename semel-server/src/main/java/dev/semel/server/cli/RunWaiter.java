package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Waits for the end of a run by polling it. Polling leaves no trace, while another trigger would count as a Replayed
 * request.
 */
final class RunWaiter {
    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled", "in_doubt");

    private final ApiClient api;
    private final CommandEnvironment environment;

    RunWaiter(ApiClient api, CommandEnvironment environment) {
        this.api = api;
        this.environment = environment;
    }

    /** The trigger's response with the run's last known status, and its output or error after its end. */
    ObjectNode awaitEnd(ObjectNode answer, Instant deadline, Duration betweenLooks) {
        ObjectNode outcome = answer.deepCopy();
        String run = TerminalJson.text(answer, "run_id");
        while (!ENDED.contains(TerminalJson.text(outcome, "status"))
                && environment.clock().instant().isBefore(deadline)) {
            pause(betweenLooks);
            JsonNode seen = look(run);
            for (String member : new String[] {"status", "waiting_for", "output", "error"}) {
                if (seen.has(member)) {
                    outcome.set(member, seen.get(member));
                }
            }
        }
        return outcome;
    }

    /** An unreachable server does not end the wait: the run is durable and continues after a restart. */
    private JsonNode look(String run) {
        try {
            return api.send(ApiRequest.get(ApiRequest.path("v1", "runs", run))).body();
        } catch (CommandFailure away) {
            if (away.exitCode() == ExitCode.UNREACHABLE) {
                return TerminalJson.newObject();
            }
            throw away;
        }
    }

    static boolean isEnded(String status) {
        return ENDED.contains(status);
    }

    private void pause(Duration pause) {
        try {
            environment.sleeper().sleep(pause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw CommandFailure.create(
                    ExitCode.FAILED, "interrupted", "Stopped waiting. The run continues.", "See `semel run`.");
        }
    }
}
