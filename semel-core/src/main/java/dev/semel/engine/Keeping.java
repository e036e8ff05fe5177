package dev.semel.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long things are kept that have a time of their own, beside runs and names.
 *
 * @param payloads inputs, outputs and results of runs that ended; null: as long as the run
 * @param requests rows of single duplicates; the counts stay with the run. Null: as long as the run
 * @param ticks what became of each tick; null: as long as runs, and never less than {@link #LEAST_TICKS}
 * @param events at the least as long as their names keep them from starting anything twice
 * @param audit who did what; null: for ever
 */
public record Keeping(
        @Nullable Duration payloads,
        @Nullable Duration requests,
        @Nullable Duration ticks,
        Duration events,
        @Nullable Duration audit) {
    /** For longer than the names of ticks, so that a backfill always knows what was done. */
    public static final Duration LEAST_TICKS = TickDoor.WINDOW.plusDays(5);

    /** As long as names of events. */
    public static final Duration LEAST_EVENTS = Duration.ofDays(7);

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    public static final Keeping DEFAULT = new Keeping(null, null, null, LEAST_EVENTS, null);

    public Keeping {
        atLeast("payloads", payloads, HOUR);
        atLeast("requests", requests, HOUR);
        atLeast("ticks", ticks, LEAST_TICKS);
        atLeast("events", events, LEAST_EVENTS);
        // A change whose answer was lost is known by its row.
        atLeast("audit", audit, DAY);
    }

    private static void atLeast(String what, @Nullable Duration given, Duration least) {
        if (given != null && given.compareTo(least) < 0) {
            throw new IllegalArgumentException(
                    what + " are kept for at least " + least.toHours() + " hours, since shorter would break a promise");
        }
    }
}
