package dev.semel.server.steps;

import dev.semel.server.language.Fields;
import dev.semel.workflow.Urgency;
import java.time.Duration;
import java.util.Set;

/** Reads `due, remind_after, escalate_after, escalate_to`: the deadline, reminder and escalation of a review. */
final class Urgencies {
    static final Set<String> FIELDS = Set.of("due", "remind_after", "escalate_after", "escalate_to");

    private Urgencies() {}

    static Urgency read(Draft draft, Fields section) {
        Duration due = section.duration("due");
        Duration remind = section.duration("remind_after");
        Duration escalate = section.duration("escalate_after");
        String to = section.text("escalate_to");
        if ((escalate == null) != (to == null)) {
            draft.wrong(section.spot(), "escalate_after and escalate_to must be set together.");
            return Urgency.NONE;
        }
        try {
            return new Urgency(due, remind, escalate, to == null ? "" : to);
        } catch (IllegalArgumentException e) {
            draft.wrong(section.spot(), e.getMessage() + ".");
            return Urgency.NONE;
        }
    }
}
