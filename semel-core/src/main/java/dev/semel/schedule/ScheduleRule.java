package dev.semel.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Computes the due times of a schedule, without reading a clock. */
public sealed interface ScheduleRule permits CronRule, IntervalRule {
    /** No due time is after this; it also bounds every search. */
    Instant END_OF_TIME = Instant.parse("9999-01-01T00:00:00Z");

    /** The next due time after this one, in whole seconds; null for none. */
    @Nullable
    Instant nextAfter(Instant time);
}
