package dev.semel.server.files.steps;

import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.workflow.EscalationPolicy;
import java.time.Duration;
import java.util.Set;

/** Reads `due, remind_after, escalate_after, escalate_to`: the deadline, reminder and escalation of a review. */
public final class YamlEscalationPolicyReader {
    public static final Set<String> FIELDS = Set.of("due", "remind_after", "escalate_after", "escalate_to");

    private YamlEscalationPolicyReader() {}

    public static EscalationPolicy read(YamlStepReadContext draft, YamlMapReader section) {
        Duration due = section.duration("due");
        Duration remind = section.duration("remind_after");
        Duration escalate = section.duration("escalate_after");
        String to = section.text("escalate_to");
        if ((escalate == null) != (to == null)) {
            draft.addError(section.range(), "escalate_after and escalate_to must be set together.");
            return EscalationPolicy.NONE;
        }
        try {
            return new EscalationPolicy(due, remind, escalate, to == null ? "" : to);
        } catch (IllegalArgumentException e) {
            draft.addError(section.range(), e.getMessage() + ".");
            return EscalationPolicy.NONE;
        }
    }
}
