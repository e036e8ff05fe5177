package dev.semel.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * @param payloads inputs, outputs and results of ended runs. Default: as long as the run.
 * @param requests rows of single duplicates; the counts stay with the run. Default: as long as the run.
 * @param ticks outcomes of schedule ticks. Default: as long as runs, at least {@link #MIN_TICKS}.
 * @param events inbound events, at least as long as their keys prevent duplicates
 * @param audit the audit log. Default: no limit.
 */
public record RetentionPolicy(
        @Nullable Duration payloads,
        @Nullable Duration requests,
        @Nullable Duration ticks,
        Duration events,
        @Nullable Duration audit) {
    /** How long the key of a tick is kept, so that it has one run whatever happens to its row. */
    public static final Duration TICK_KEYS = Duration.ofDays(40);

    /** Longer than the keys of ticks, so that a backfill always knows which ticks ran. */
    public static final Duration MIN_TICKS = TICK_KEYS.plusDays(5);

    /** As long as the keys of events. */
    public static final Duration MIN_EVENTS = Duration.ofDays(7);

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    public static final RetentionPolicy DEFAULT = new RetentionPolicy(null, null, null, MIN_EVENTS, null);

    public RetentionPolicy {
        atLeast("payloads", payloads, HOUR);
        atLeast("requests", requests, HOUR);
        atLeast("ticks", ticks, MIN_TICKS);
        atLeast("events", events, MIN_EVENTS);
        // A retried change whose response was lost is recognized by its audit row.
        atLeast("audit", audit, DAY);
    }

    private static void atLeast(String what, @Nullable Duration given, Duration least) {
        if (given != null && given.compareTo(least) < 0) {
            throw new IllegalArgumentException(
                    "The retention of " + what + " is too short: " + given + ". No setting was changed. Set at least "
                            + least.toHours() + " hours, because Semel needs these records to recognise duplicates.");
        }
    }
}
