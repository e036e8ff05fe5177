package dev.semel.schedule;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Publishing does not move its times if interval and anchor stay the same. */
public record IntervalRule(Duration interval, Instant anchor) implements ScheduleRule {
    public static final Duration LONGEST = Duration.ofDays(366);

    public IntervalRule {
        if (interval.getSeconds() < 1 || interval.getNano() != 0 || interval.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("an interval must be 1s to 366d in whole seconds");
        }
        if (anchor.getNano() != 0) {
            throw new IllegalArgumentException("an anchor must be a whole second");
        }
    }

    @Override
    public @Nullable Instant nextAfter(Instant time) {
        long each = interval.getSeconds();
        long steps = Math.floorDiv(time.getEpochSecond() - anchor.getEpochSecond(), each) + 1;
        Instant next = Instant.ofEpochSecond(anchor.getEpochSecond() + steps * each);
        return next.isBefore(END_OF_TIME) ? next : null;
    }
}
