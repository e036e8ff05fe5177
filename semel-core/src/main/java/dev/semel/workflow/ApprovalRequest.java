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
 * @param details details that the approver sees, in order
 * @param timeout maximum time to wait; null for no limit
 * @param escalation due time, reminders and escalation; without a due time the approval is due at the timeout
 */
public record ApprovalRequest(
        String title,
        String to,
        Map<String, String> details,
        @Nullable Duration timeout,
        EscalationPolicy escalation) {
    public ApprovalRequest {
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /** An approval without a due time, reminders or escalation. */
    public ApprovalRequest(String title, String to, Map<String, String> shown, @Nullable Duration timeout) {
        this(title, to, shown, timeout, EscalationPolicy.NONE);
    }

    public static ApprovalRequest of() {
        return new ApprovalRequest("", "", Map.of(), null);
    }

    public ApprovalRequest title(String value) {
        return new ApprovalRequest(value, to, details, timeout, escalation);
    }

    public ApprovalRequest to(String value) {
        return new ApprovalRequest(title, value, details, timeout, escalation);
    }

    public ApprovalRequest show(String name, Object value) {
        Map<String, String> more = new LinkedHashMap<>(details);
        more.put(name, String.valueOf(value));
        return new ApprovalRequest(title, to, more, timeout, escalation);
    }

    public ApprovalRequest timeout(Duration value) {
        return new ApprovalRequest(title, to, details, value, escalation);
    }

    /** Sets the due time, reminders and escalation. */
    public ApprovalRequest escalation(EscalationPolicy value) {
        return new ApprovalRequest(title, to, details, timeout, value);
    }
}
