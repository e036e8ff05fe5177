package dev.semel.run;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Microseconds are the time unit of stores. Overflow becomes the maximum or minimum. */
public final class MicrosecondConverter {
    private static final long A_SECOND = TimeUnit.SECONDS.toMicros(1);

    private MicrosecondConverter() {}

    public static long of(Duration length) {
        return of(length.getSeconds(), length.getNano());
    }

    public static long of(Instant point) {
        return of(point.getEpochSecond(), point.getNano());
    }

    private static long of(long seconds, int nanos) {
        if (seconds >= Long.MAX_VALUE / A_SECOND) {
            return Long.MAX_VALUE;
        }
        return seconds <= Long.MIN_VALUE / A_SECOND ? Long.MIN_VALUE : seconds * A_SECOND + nanos / 1_000;
    }

    public static long after(long point, Duration length) {
        long by = of(length);
        long sum = point + by;
        boolean over = ((point ^ sum) & (by ^ sum)) < 0;
        return !over ? sum : by > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
    }

    public static Instant toInstant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, A_SECOND), Math.floorMod(micros, A_SECOND) * 1_000);
    }

    /** For JDK waits, which count in nanoseconds. */
    public static long nanos(Duration length) {
        return length.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : length.toNanos();
    }
}
