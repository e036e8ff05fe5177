package dev.semel.engine;

import dev.semel.run.RunId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** When the next runs of a plan may start, for those that go at a pace. */
final class Pace {
    private final Map<RunId, Long> next = new HashMap<>();

    boolean mayGoOn(RunId plan, long now) {
        return now - next.getOrDefault(plan, now) >= 0;
    }

    /** So many are started now. */
    void started(RunId plan, long runs, int perSecond, long now) {
        next.put(plan, now + runs * TimeUnit.SECONDS.toNanos(1) / perSecond);
    }

    void forget(RunId plan) {
        next.remove(plan);
    }

    /** How long nothing of them starts, but no longer than this. */
    long rest(long most, long now) {
        return next.values().stream()
                .mapToLong(at -> at - now)
                .filter(left -> left > 0 && left < most)
                .min()
                .orElse(most);
    }
}
