package dev.semel.workflow;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The retry policy of a step or effect: number of attempts, or a time, and exponential backoff between the attempts.
 * The engine adds jitter. A failure of a class in {@code notOn} is final and means that nothing happened.
 *
 * @param attempts maximum number of attempts, including the first; {@link #UNLIMITED} with {@code within}
 * @param first delay after the first attempt
 * @param factor multiplier for each further delay
 * @param longest maximum delay
 * @param within how long after the first attempt the last one may begin; null for no limit
 * @param unsentAttempts gives up after this many attempts if certainly none of them was sent; 0: no such limit
 */
public record Retry(
        int attempts,
        Duration first,
        double factor,
        Duration longest,
        List<Class<? extends Throwable>> notOn,
        @Nullable Duration within,
        int unsentAttempts) {
    /** For {@link #attempts} of a policy that only {@link #within} limits. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    public static final Retry NONE = new Retry(1, Duration.ofSeconds(1), 2, Duration.ofMinutes(5), List.of());

    /** The default policy of steps: five attempts, 1, 2, 4 and 8 seconds apart. */
    public static final Retry STANDARD = exponential(Duration.ofSeconds(1));

    private static final int MOST_ATTEMPTS = 1_000;
    private static final int MOST_DAYS = 365;

    /** A policy that a number of attempts limits. */
    public Retry(
            int attempts, Duration first, double factor, Duration longest, List<Class<? extends Throwable>> notOn) {
        this(attempts, first, factor, longest, notOn, null, 0);
    }

    public Retry {
        if (attempts < 1 || attempts > MOST_ATTEMPTS && (attempts != UNLIMITED || within == null)) {
            throw new IllegalArgumentException("attempts must be between 1 and " + MOST_ATTEMPTS + ", not " + attempts);
        }
        if (within != null && (within.isNegative() || within.compareTo(Duration.ofDays(MOST_DAYS)) > 0)) {
            throw new IllegalArgumentException("the time for all attempts must be at most 365 days, not " + within);
        }
        if (unsentAttempts < 0) {
            throw new IllegalArgumentException("unsentAttempts must not be negative, not " + unsentAttempts);
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
        return new Retry(value, first, factor, longest, notOn, within, unsentAttempts);
    }

    /** Retries for this time after the first attempt, without a limit of the number of attempts. */
    public Retry within(Duration value) {
        return new Retry(UNLIMITED, first, factor, longest, notOn, value, unsentAttempts);
    }

    /**
     * Gives up after this many attempts if certainly none of them was sent. For an effect with an alternative that the
     * workflow takes if the effect fails.
     */
    public Retry upToUnsent(int value) {
        return new Retry(attempts, first, factor, longest, notOn, within, value);
    }

    public Retry factor(double value) {
        return new Retry(attempts, first, value, longest, notOn, within, unsentAttempts);
    }

    public Retry longest(Duration value) {
        return new Retry(attempts, first, factor, value, notOn, within, unsentAttempts);
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final Retry notOn(Class<? extends Throwable>... kinds) {
        List<Class<? extends Throwable>> all = new ArrayList<>(notOn);
        for (Class<? extends Throwable> kind : kinds) {
            all.add(kind);
        }
        return new Retry(attempts, first, factor, longest, all, within, unsentAttempts);
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
