package dev.semel.engine.replay;

import dev.semel.run.RunId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

final class ReplayRateLimiter {
    private final Map<RunId, Long> next = new HashMap<>();

    boolean mayStart(RunId plan, long now) {
        return now - next.getOrDefault(plan, now) >= 0;
    }

    void recordStarted(RunId plan, long runs, int perSecond, long now) {
        next.put(plan, now + runs * TimeUnit.SECONDS.toNanos(1) / perSecond);
    }

    void forget(RunId plan) {
        next.remove(plan);
    }

    /** Time until the next plan may start runs, at most {@code most}. */
    long nextDelay(long most, long now) {
        return next.values().stream()
                .mapToLong(at -> at - now)
                .filter(left -> left > 0 && left < most)
                .min()
                .orElse(most);
    }
}
