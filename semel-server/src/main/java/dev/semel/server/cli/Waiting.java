package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Waits for a run by looking at it. Looking leaves no trace; triggering again would be one more replayed request. */
final class Waiting {
    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled", "in_doubt");

    private final Api api;
    private final Surroundings around;

    Waiting(Api api, Surroundings around) {
        this.api = api;
        this.around = around;
    }

    /** The trigger's answer with the run's last known status, and its output or error once it has ended. */
    ObjectNode forEnd(ObjectNode answer, Instant deadline, Duration betweenLooks) {
        ObjectNode outcome = answer.deepCopy();
        String run = Json.text(answer, "run_id");
        while (!ENDED.contains(Json.text(outcome, "status"))
                && around.clock().instant().isBefore(deadline)) {
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

    /** A server that is away for a moment ends no wait: the run is durable and goes on after a restart. */
    private JsonNode look(String run) {
        try {
            return api.ask(Call.get(Call.path("v1", "runs", run))).body();
        } catch (Failure away) {
            if (away.exit() == Exit.UNREACHABLE) {
                return Json.object();
            }
            throw away;
        }
    }

    static boolean ended(String status) {
        return ENDED.contains(status);
    }

    private void pause(Duration pause) {
        try {
            around.pause().of(pause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw Failure.here(
                    Exit.FAILED, "interrupted", "Stopped waiting. The run goes on.", "Look with `semel run`.");
        }
    }
}
