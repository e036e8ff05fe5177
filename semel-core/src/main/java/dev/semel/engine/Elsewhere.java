package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.Replay;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Replay plans that wait because this worker lacks the code of their workflows, each with the time of its next check.
 */
final class Elsewhere {
    /** At most this many workflows are listed in the note. */
    private static final int MAX_LISTED = 3;

    private final Map<RunId, Long> until = new ConcurrentHashMap<>();

    boolean has(RunId plan) {
        return until.containsKey(plan);
    }

    /** Whether the plan is not to be checked yet. */
    boolean isStill(RunId plan, long now) {
        Long then = until.get(plan);
        if (then != null && then - now > 0) {
            return true;
        }
        until.remove(plan);
        return false;
    }

    void until(RunId plan, long then) {
        until.put(plan, then);
    }

    /** Returns the note of such a plan, from the notes of its items, which name the missing code. */
    static String note(List<Replay.Item> seen) {
        String code = seen.stream()
                .map(Replay.Item::note)
                .filter(note -> !note.isEmpty())
                .distinct()
                .limit(MAX_LISTED)
                .collect(Collectors.joining(", "));
        return code.isEmpty() ? "" : "It waits for a worker that has the code of " + code + ".";
    }
}
