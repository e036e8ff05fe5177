package dev.semel.engine.timer;

import dev.semel.run.RunId;
import dev.semel.store.CrashCount;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Decides how many suspects execute at once. A suspect is a run that was active in several worker crashes: it may be the
 * cause. The first is tried alone. Each one that ends or parks doubles the number, so innocent runs do not wait long.
 *
 * <p>A suspect that runs for long is no longer on trial. The time doubles with each crash of its worker, so that a run
 * that crashes its worker late is alone at last.
 */
final class SuspectTrial {
    private static final long SHORTEST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int MAX_DOUBLINGS = 10;
    private static final int MAX_AT_ONCE = 1 << 10;

    private final Map<RunId, Long> endsByRun = new LinkedHashMap<>();
    private int atOnce = 1;

    /** Returns how many more suspects may begin now. */
    int room(long now, Predicate<RunId> isActive) {
        for (Iterator<Map.Entry<RunId, Long>> all = endsByRun.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<RunId, Long> one = all.next();
            if (!isActive.test(one.getKey())) {
                atOnce = Math.min(MAX_AT_ONCE, atOnce * 2);
                all.remove();
            } else if (now - one.getValue() >= 0) {
                all.remove();
            }
        }
        return Math.max(0, atOnce - endsByRun.size());
    }

    void begin(RunId run, CrashCount crashes, long now) {
        int doublings = Math.clamp(crashes.total() - CrashCount.BEFORE_TRIAL - 1, 0, MAX_DOUBLINGS);
        endsByRun.put(run, now + (SHORTEST_NANOS << doublings));
    }
}
