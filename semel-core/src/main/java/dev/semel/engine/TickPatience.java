package dev.semel.engine;

import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long the ticker rests, and which schedules it leaves alone for a while because it could not fire them: their text
 * cannot be read here, or is not the one that is published. Those are looked at ever less often, and at once when the
 * catalog changed; but never so seldom that a tick is late when it can be fired again.
 */
final class TickPatience {
    static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final long LATEST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
    static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(8);

    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /** @param change of the catalog when it was looked at in vain */
    private record Held(long change, long until, long length) {}

    /** @param nanos now, by the clock that only goes forward */
    boolean holds(Rows.Schedule row, long change, long nanos) {
        Held one = held.get(key(row));
        return one != null && one.change() == change && nanos - one.until() < 0;
    }

    /** It could not be fired again. */
    void hold(Rows.Schedule row, long change, long nanos) {
        held.compute(key(row), (_, before) -> {
            boolean again = before != null && before.change() == change;
            long length = again ? Math.min(LONGEST_NANOS, before.length() * 2) : FIRST_NANOS;
            return new Held(change, nanos + length, length);
        });
    }

    /** The rows of this workflow were brought in line with what is published. */
    void forget(String workflowId) {
        held.keySet().removeIf(key -> key.startsWith(workflowId + "/"));
    }

    void forget(Rows.Schedule row) {
        held.remove(key(row));
    }

    /** Code came to this process: whatever could not be read may be readable by now. */
    void forgetAll() {
        held.clear();
    }

    private static String key(Rows.Schedule row) {
        return row.workflowId() + "/" + row.name();
    }

    /**
     * Nanoseconds until the next look when nothing could be fired.
     *
     * @param now by the store's clock
     * @param first the schedule that is due first; one that is due by now is not ours, or somebody has it
     * @param next the first that is not due yet
     */
    static long rest(long now, Rows.@Nullable Schedule first, Rows.@Nullable Schedule next) {
        long until = next == null || next.nextAt() == Write.Rest.NEVER
                ? LATEST_LOOK_NANOS
                : TimeUnit.MICROSECONDS.toNanos(next.nextAt() - now);
        long left = Math.clamp(until, SOON_NANOS, LATEST_LOOK_NANOS);
        boolean waiting = first != null && first.nextAt() <= now;
        return waiting ? Math.min(left, FIRST_NANOS) : left;
    }
}
