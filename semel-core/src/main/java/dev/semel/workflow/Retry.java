package dev.semel.workflow;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How often and when an attempt that failed is made again: each pause longer by the factor, up to a longest one, with
 * jitter added by the engine. A failure of a kind named in {@code notOn} is final: it is known that nothing happened.
 *
 * @param attempts how many in all, the first included
 */
public record Retry(
        int attempts, Duration first, double factor, Duration longest, List<Class<? extends Throwable>> notOn) {
    public static final Retry NONE = new Retry(1, Duration.ofSeconds(1), 2, Duration.ofMinutes(5), List.of());

    /** What steps and effects do unless told otherwise: five attempts, 1, 2, 4 and 8 seconds apart. */
    public static final Retry STANDARD = exponential(Duration.ofSeconds(1));

    private static final int MOST_ATTEMPTS = 1_000;
    private static final int MOST_DAYS = 365;

    public Retry {
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new IllegalArgumentException("attempts must be between 1 and " + MOST_ATTEMPTS + ", not " + attempts);
        }
        if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException("the first pause must be positive and not above the longest one");
        }
        if (longest.compareTo(Duration.ofDays(MOST_DAYS)) > 0) {
            throw new IllegalArgumentException("the longest pause must not be above 365 days, not " + longest);
        }
        if (!(factor >= 1 && factor <= 100)) {
            throw new IllegalArgumentException("the factor must be between 1 and 100, not " + factor);
        }
        notOn = List.copyOf(notOn);
    }

    /** Five attempts with pauses that double, unless told otherwise. */
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

    /** Whether this failure is final. */
    public boolean isFinal(Throwable failure) {
        return notOn.stream().anyMatch(kind -> kind.isInstance(failure));
    }

    /** The pause after this many attempts, before jitter. */
    public Duration pause(int made) {
        double millis = first.toMillis() * Math.pow(factor, Math.max(0, made - 1));
        return millis >= longest.toMillis() ? longest : Duration.ofMillis(Math.max(1, (long) millis));
    }
}
