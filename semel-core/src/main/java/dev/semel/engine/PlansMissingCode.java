package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanOperation;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Replay plans that wait because this worker lacks the code of their workflows, each with the time of its next check.
 */
final class PlansMissingCode {
    /** At most this many workflows are listed in the note. */
    private static final int MAX_LISTED = 3;

    private final Map<RunId, Long> deferUntil = new ConcurrentHashMap<>();

    boolean contains(RunId plan) {
        return deferUntil.containsKey(plan);
    }

    /** Whether the plan is not to be checked yet. */
    boolean isDeferred(RunId plan, long now) {
        Long then = deferUntil.get(plan);
        if (then != null && then - now > 0) {
            return true;
        }
        deferUntil.remove(plan);
        return false;
    }

    void deferUntil(RunId plan, long then) {
        deferUntil.put(plan, then);
    }

    /** Returns the note of such a plan, from the notes of its items, which name the missing code. */
    static String describe(List<ReplayPlanOperation.PlanItem> seen) {
        String code = seen.stream()
                .map(ReplayPlanOperation.PlanItem::note)
                .filter(note -> !note.isEmpty())
                .distinct()
                .limit(MAX_LISTED)
                .collect(Collectors.joining(", "));
        return code.isEmpty() ? "" : "It waits for a worker that has the code of " + code + ".";
    }
}
