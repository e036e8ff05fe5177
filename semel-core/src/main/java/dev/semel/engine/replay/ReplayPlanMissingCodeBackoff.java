package dev.semel.engine.replay;

import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Plans that wait because this worker lacks the code of their workflows, with the time of the next check. */
final class ReplayPlanMissingCodeBackoff {
    /** At most this many workflows are listed in the note. */
    private static final int MAX_LISTED = 3;

    private final Map<RunId, Long> deferUntil = new ConcurrentHashMap<>();

    boolean contains(RunId plan) {
        return deferUntil.containsKey(plan);
    }

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
    static String describe(List<ReplayPlanStoreWriteCommand.PlanItem> items) {
        String code = items.stream()
                .map(ReplayPlanStoreWriteCommand.PlanItem::note)
                .filter(note -> !note.isEmpty())
                .distinct()
                .limit(MAX_LISTED)
                .collect(Collectors.joining(", "));
        return code.isEmpty() ? "" : "The plan waits for a worker that has the code of " + code + ".";
    }
}
