package dev.semel.workflow;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a review is due, how often its reviewers are reminded, and when and to whom it escalates.
 * All times count from the opening of the review.
 *
 * @param due time until the decision is due; Semel decides nothing automatically after it
 * @param remind interval of the reminders to the reviewers
 * @param escalateAfter time after which the review goes to {@code escalateTo}
 */
public record EscalationPolicy(
        @Nullable Duration due,
        @Nullable Duration remind,
        @Nullable Duration escalateAfter,
        String escalateTo) {
    public static final EscalationPolicy NONE = new EscalationPolicy(null, null, null, "");

    /** Minimum value of all times. */
    public static final Duration MIN_DURATION = Duration.ofSeconds(1);

    public EscalationPolicy {
        positive("due", due);
        positive("remind", remind);
        positive("escalateAfter", escalateAfter);
        if ((escalateAfter == null) != escalateTo.isBlank()) {
            throw new IllegalArgumentException("an escalation needs both a time and a reviewer");
        }
    }

    private static void positive(String what, @Nullable Duration value) {
        if (value != null && (value.compareTo(MIN_DURATION) < 0 || value.compareTo(Duration.ofDays(365)) > 0)) {
            throw new IllegalArgumentException(what + " must be between 1 second and 365 days, not " + value);
        }
    }

    public EscalationPolicy due(Duration value) {
        return new EscalationPolicy(value, remind, escalateAfter, escalateTo);
    }

    public EscalationPolicy remind(Duration value) {
        return new EscalationPolicy(due, value, escalateAfter, escalateTo);
    }

    public EscalationPolicy escalate(Duration after, String to) {
        return new EscalationPolicy(due, remind, after, to);
    }
}
