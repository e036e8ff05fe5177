package dev.semel.workflow;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The retry policy of a step or effect: number of attempts and exponential backoff between them.
 * The engine adds jitter. A failure of a class in {@code notOn} is final and means that nothing happened.
 *
 * @param attempts maximum number of attempts, including the first
 * @param first delay after the first attempt
 * @param factor multiplier for each further delay
 * @param longest maximum delay
 */
public record Retry(
        int attempts, Duration first, double factor, Duration longest, List<Class<? extends Throwable>> notOn) {
    public static final Retry NONE = new Retry(1, Duration.ofSeconds(1), 2, Duration.ofMinutes(5), List.of());

    /** The default policy of steps and effects: five attempts, 1, 2, 4 and 8 seconds apart. */
    public static final Retry STANDARD = exponential(Duration.ofSeconds(1));

    private static final int MOST_ATTEMPTS = 1_000;
    private static final int MOST_DAYS = 365;

    public Retry {
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new IllegalArgumentException("attempts must be between 1 and " + MOST_ATTEMPTS + ", not " + attempts);
        }
        if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException("the first delay must be positive and at most the maximum delay");
        }
        if (longest.compareTo(Duration.ofDays(MOST_DAYS)) > 0) {
            throw new IllegalArgumentException("the maximum delay must be at most 365 days, not " + longest);
        }
        if (!(factor >= 1 && factor <= 100)) {
            throw new IllegalArgumentException("the factor must be between 1 and 100, not " + factor);
        }
        notOn = List.copyOf(notOn);
    }

    /** Exponential backoff. Default: five attempts, and each delay is twice the previous one. */
    public static Retry exponential(Duration first) {
        Duration longest = Duration.ofMinutes(5);
        return new Retry(5, first, 2, first.compareTo(longest) > 0 ? first : longest, List.of());
    }

    public static Retry none() {
        return NONE;
    }

    public Retry upTo(int value) {
        return new Retry(value, first, factor, longest, notOn);
    }

    public Retry factor(double value) {
        return new Retry(attempts, first, value, longest, notOn);
    }

    public Retry longest(Duration value) {
        return new Retry(attempts, first, factor, value, notOn);
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final Retry notOn(Class<? extends Throwable>... kinds) {
        List<Class<? extends Throwable>> all = new ArrayList<>(notOn);
        for (Class<? extends Throwable> kind : kinds) {
            all.add(kind);
        }
        return new Retry(attempts, first, factor, longest, all);
    }

    /** Whether this failure must not be retried. */
    public boolean isFinal(Throwable failure) {
        return notOn.stream().anyMatch(kind -> kind.isInstance(failure));
    }

    /** The delay after this many attempts, before jitter. */
    public Duration delayAfter(int made) {
        double millis = first.toMillis() * Math.pow(factor, Math.max(0, made - 1));
        return millis >= longest.toMillis() ? longest : Duration.ofMillis(Math.max(1, (long) millis));
    }
}
