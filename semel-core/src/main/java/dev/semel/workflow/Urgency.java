package dev.semel.workflow;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long people have to decide, and who is told when they do not. All times count from when the question is asked.
 *
 * @param due by when it should be decided; nothing is decided by itself when that is over
 * @param remind whoever is to decide is reminded each time so much has passed
 * @param escalateAfter when it goes to {@code escalateTo}
 */
public record Urgency(
        @Nullable Duration due,
        @Nullable Duration remind,
        @Nullable Duration escalateAfter,
        String escalateTo) {
    public static final Urgency NONE = new Urgency(null, null, null, "");

    /** Often enough; a shorter pause is a mistake. */
    public static final Duration SHORTEST = Duration.ofSeconds(1);

    public Urgency {
        positive("due", due);
        positive("remind", remind);
        positive("escalateAfter", escalateAfter);
        if ((escalateAfter == null) != escalateTo.isBlank()) {
            throw new IllegalArgumentException("an escalation says when and to whom");
        }
    }

    private static void positive(String what, @Nullable Duration value) {
        if (value != null && (value.compareTo(SHORTEST) < 0 || value.compareTo(Duration.ofDays(365)) > 0)) {
            throw new IllegalArgumentException(what + " is between 1 second and 365 days, not " + value);
        }
    }

    public Urgency due(Duration value) {
        return new Urgency(value, remind, escalateAfter, escalateTo);
    }

    public Urgency remind(Duration value) {
        return new Urgency(due, value, escalateAfter, escalateTo);
    }

    public Urgency escalate(Duration after, String to) {
        return new Urgency(due, remind, after, to);
    }
}
