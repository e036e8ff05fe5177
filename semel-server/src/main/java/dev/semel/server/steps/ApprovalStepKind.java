package dev.semel.server.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.Decision;
import dev.semel.workflow.EscalationPolicy;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `approval: {to, title, show, timeout, on_timeout, on_reject, due, …}`: users decide whether the run
 * continues.
 */
final class ApprovalStepKind implements StepKind {
    private static final TimeoutAction REJECTED = new TimeoutAction.End("rejected");

    @Override
    public String name() {
        return "approval";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        YamlMapReader section = draft.section("approval");
        if (section == null) {
            return null;
        }
        Set<String> known = new HashSet<>(EscalationPolicyReader.FIELDS);
        known.addAll(Set.of("to", "title", "show", "timeout", "on_timeout", "on_reject"));
        section.allowOnly(known, Set.of());
        String to = section.text("to");
        if (section.get("to") == null) {
            draft.addError(section.nameRange("to"), "approval.to is missing; set who decides, e.g. to: role:ops.");
        }
        ValueTemplate title = draft.requiredTemplate(section, "title");
        Map<String, ValueTemplate> show = new LinkedHashMap<>();
        if (YamlMapReader.of(section.get("show"), "approval.show", draft.problems()) instanceof YamlMapReader shown) {
            shown.map().members().forEach((name, member) -> show.put(name, compiled(draft, member.value())));
        }
        ApprovalDeadline waiting =
                new ApprovalDeadline(section.duration("timeout"), EscalationPolicyReader.read(draft, section));
        TimeoutAction late = TimeoutAction.read(draft, section, "on_timeout", REJECTED);
        TimeoutAction rejected = TimeoutAction.read(draft, section, "on_reject", REJECTED);
        return to == null || title == null ? null : new ApprovalAction(to, title, show, waiting, late, rejected);
    }

    private static ValueTemplate compiled(StepReadContext draft, YamlNode tree) {
        return draft.tools().templates().compile(tree, draft.context());
    }

    /**
     * How long the run waits for the approval.
     *
     * @param timeout null for no timeout
     */
    private record ApprovalDeadline(@Nullable Duration timeout, EscalationPolicy urgency) {}

    /** Opens the review and waits for the decision. */
    private record ApprovalAction(
            String to,
            ValueTemplate title,
            Map<String, ValueTemplate> show,
            ApprovalDeadline waiting,
            TimeoutAction late,
            TimeoutAction rejected)
            implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            ApprovalRequest asked = ApprovalRequest.of().to(to).title(context.text(title, "approval.title"));
            for (var shown : show.entrySet()) {
                JsonNode value = context.evaluate(shown.getValue());
                asked = asked.show(shown.getKey(), value.isString() ? value.stringValue() : StrictJson.write(value));
            }
            asked = asked.escalation(waiting.urgency());
            if (waiting.timeout() != null) {
                asked = asked.timeout(waiting.timeout());
            }
            return switch (context.durable().approval(context.id(), asked)) {
                case Decision.Approved(String by, String note) -> answer(true, by, note);
                case Decision.Rejected(String by, String note) -> settled(context, rejected, answer(false, by, note));
                case Decision.TimedOut _ ->
                    settled(context, late, answer(false, "", "").put("timed_out", true));
            };
        }

        private static ObjectNode answer(boolean approved, String by, String note) {
            ObjectNode answer = JsonNodeFactory.instance.objectNode().put("approved", approved);
            return answer.put("by", by).put("note", note);
        }

        private static JsonNode settled(StepContext context, TimeoutAction expiry, ObjectNode answer) {
            return switch (expiry) {
                case TimeoutAction.Continue _ -> answer;
                case TimeoutAction.End(String word) -> throw new EndRunException(word);
                case TimeoutAction.Fail _ ->
                    throw new SemelException(
                            ErrorCode.STEP_FAILED,
                            "Step '%s' was not approved. No later step ran; recorded results are kept."
                                    .formatted(context.id()),
                            "Clarify with the reviewer, then replay the run.");
            };
        }

        @Override
        public boolean requiresApproval() {
            return !(late instanceof TimeoutAction.Continue) && !(rejected instanceof TimeoutAction.Continue);
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.concat(Stream.of(title), show.values().stream());
        }
    }
}
