package dev.semel.workflow;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The approval that a workflow requests from users: title, approvers, details and time limits.
 *
 * @param to who may decide, for example `role:ops`
 * @param shown details that the approver sees, in order
 * @param timeout maximum time to wait; null for no limit
 * @param urgency due time, reminders and escalation; without a due time the approval is due at the timeout
 */
public record Approval(
        String title,
        String to,
        Map<String, String> shown,
        @Nullable Duration timeout,
        Urgency urgency) {
    public Approval {
        shown = Collections.unmodifiableMap(new LinkedHashMap<>(shown));
    }

    /** An approval without a due time, reminders or escalation. */
    public Approval(String title, String to, Map<String, String> shown, @Nullable Duration timeout) {
        this(title, to, shown, timeout, Urgency.NONE);
    }

    public static Approval of() {
        return new Approval("", "", Map.of(), null);
    }

    public Approval title(String value) {
        return new Approval(value, to, shown, timeout, urgency);
    }

    public Approval to(String value) {
        return new Approval(title, value, shown, timeout, urgency);
    }

    public Approval show(String name, Object value) {
        Map<String, String> more = new LinkedHashMap<>(shown);
        more.put(name, String.valueOf(value));
        return new Approval(title, to, more, timeout, urgency);
    }

    public Approval timeout(Duration value) {
        return new Approval(title, to, shown, value, urgency);
    }

    /** Sets the due time, reminders and escalation. */
    public Approval urgency(Urgency value) {
        return new Approval(title, to, shown, timeout, value);
    }
}
