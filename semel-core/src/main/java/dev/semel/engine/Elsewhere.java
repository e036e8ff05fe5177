package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.Replay;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Plans of which it was seen a moment ago that the code for their runs is at other workers. */
final class Elsewhere {
    /** So many workflows are named whose code is missing. */
    private static final int TOLD = 3;

    private final Map<RunId, Long> until = new ConcurrentHashMap<>();

    boolean has(RunId plan) {
        return until.containsKey(plan);
    }

    /** Whether it is not to be looked at yet. */
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

    /** What such a plan says of itself, by items whose notes name the code. */
    static String note(List<Replay.Item> seen) {
        String code = seen.stream()
                .map(Replay.Item::note)
                .filter(note -> !note.isEmpty())
                .distinct()
                .limit(TOLD)
                .collect(Collectors.joining(", "));
        return code.isEmpty() ? "" : "It waits for a worker that has the code of " + code + ".";
    }
}
