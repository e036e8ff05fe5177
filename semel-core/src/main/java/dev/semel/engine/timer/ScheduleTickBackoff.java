package dev.semel.engine.timer;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * For schedules whose text cannot be read here or is not the published one. The interval grows, resets when the catalog
 * changes, and stays short enough that no tick is late.
 */
final class ScheduleTickBackoff {
    static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final long LATEST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
    static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(8);

    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /** @param change the catalog change at the last failed check */
    private record Held(long change, long until, long length) {}

    /** @param nanos now, by the monotonic clock */
    boolean isBackedOff(DatabaseRows.ScheduleRow row, long change, long nanos) {
        Held one = held.get(key(row));
        return one != null && one.change() == change && nanos - one.until() < 0;
    }

    void backOff(DatabaseRows.ScheduleRow row, long change, long nanos) {
        held.compute(key(row), (_, before) -> {
            boolean again = before != null && before.change() == change;
            long length = again ? Math.min(LONGEST_NANOS, before.length() * 2) : FIRST_NANOS;
            return new Held(change, nanos + length, length);
        });
    }

    /** Clears the schedules of a workflow that was synchronized. */
    void clear(String workflowId) {
        held.keySet().removeIf(key -> key.startsWith(workflowId + "/"));
    }

    void clear(DatabaseRows.ScheduleRow row) {
        held.remove(key(row));
    }

    /** Clears everything, because new code may make schedules readable. */
    void clearAll() {
        held.clear();
    }

    private static String key(DatabaseRows.ScheduleRow row) {
        return row.workflowId() + "/" + row.name();
    }

    /**
     * @param now by the store clock
     * @param first the schedule that is due first; if it is due now, it is not ours or another worker has taken it
     * @param next the first schedule that is not due yet
     */
    static long nextLookNanos(
            long now, DatabaseRows.@Nullable ScheduleRow first, DatabaseRows.@Nullable ScheduleRow next) {
        long until = next == null || next.nextAt() == StoreWrite.Suspension.NEVER
                ? LATEST_LOOK_NANOS
                : TimeUnit.MICROSECONDS.toNanos(next.nextAt() - now);
        long left = Math.clamp(until, SOON_NANOS, LATEST_LOOK_NANOS);
        boolean waiting = first != null && first.nextAt() <= now;
        return waiting ? Math.min(left, FIRST_NANOS) : left;
    }
}
