package dev.semel.server.files.steps.flow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.EarlyRunEndException;
import dev.semel.server.files.steps.YamlEscalationPolicyReader;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.EscalationPolicy;
import java.time.Duration;
import java.util.HashSet;
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
 *
 * @param timeout null for no timeout
 */
record ApprovalStepAction(
        String to,
        YamlValueTemplate title,
        Map<String, YamlValueTemplate> show,
        @Nullable Duration timeout,
        EscalationPolicy urgency,
        StepTimeoutOrRejectionAction late,
        StepTimeoutOrRejectionAction rejected)
        implements CompiledYamlStepAction {
    private static final StepTimeoutOrRejectionAction REJECTED = new StepTimeoutOrRejectionAction.Reject();

    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("approval");
        if (section == null) {
            return null;
        }
        Set<String> known = new HashSet<>(YamlEscalationPolicyReader.FIELDS);
        known.addAll(Set.of("to", "title", "show", "timeout", "on_timeout", "on_reject"));
        section.allowOnly(known);
        String to = section.text("to");
        if (section.get("to") == null) {
            draft.addError(section.nameRange("to"), "approval.to is missing; set who decides, e.g. to: role:ops.");
        }
        YamlValueTemplate title = draft.requiredTemplate(section, "title");
        Map<String, YamlValueTemplate> show = draft.templates(section, "show", "approval.show", ContextKind.STEP);
        Duration timeout = section.duration("timeout");
        EscalationPolicy urgency = YamlEscalationPolicyReader.read(draft, section);
        StepTimeoutOrRejectionAction late = StepTimeoutOrRejectionAction.read(draft, section, "on_timeout", REJECTED);
        StepTimeoutOrRejectionAction rejected =
                StepTimeoutOrRejectionAction.read(draft, section, "on_reject", REJECTED);
        return to == null || title == null
                ? null
                : new ApprovalStepAction(to, title, show, timeout, urgency, late, rejected);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        ApprovalRequest approvalRequest = ApprovalRequest.of().to(to).title(context.text(title, "approval.title"));
        for (var shown : show.entrySet()) {
            JsonNode value = context.evaluate(shown.getValue());
            approvalRequest = approvalRequest.show(
                    shown.getKey(), value.isString() ? value.stringValue() : StrictJsonCodec.write(value));
        }
        approvalRequest = approvalRequest.escalation(urgency);
        if (timeout != null) {
            approvalRequest = approvalRequest.timeout(timeout);
        }
        return switch (context.durable().approval(context.id(), approvalRequest)) {
            case ApprovalDecision.Approved(String by, String note) -> answer(true, by, note);
            case ApprovalDecision.Rejected(String by, String note) ->
                settled(context, rejected, answer(false, by, note));
            case ApprovalDecision.TimedOut _ ->
                settled(context, late, answer(false, "", "").put("timed_out", true));
        };
    }

    private static ObjectNode answer(boolean approved, String by, String note) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode().put("approved", approved);
        return answer.put("by", by).put("note", note);
    }

    private static JsonNode settled(
            YamlStepExecutionContext context, StepTimeoutOrRejectionAction expiry, ObjectNode answer) {
        return switch (expiry) {
            case StepTimeoutOrRejectionAction.Continue _ -> answer;
            case StepTimeoutOrRejectionAction.End(String word) -> throw new EarlyRunEndException(word);
            case StepTimeoutOrRejectionAction.Reject _ ->
                throw EarlyRunEndException.rejected(
                        context.id(), answer.path("timed_out").asBoolean(false));
            case StepTimeoutOrRejectionAction.Fail _ ->
                throw new SemelException(
                        ErrorCode.STEP_FAILED,
                        "Step '%s' was not approved. No later step ran; recorded results are kept."
                                .formatted(context.id()),
                        "Ask the reviewer for the reason, then replay the run.");
        };
    }

    @Override
    public boolean requiresApproval() {
        return !(late instanceof StepTimeoutOrRejectionAction.Continue)
                && !(rejected instanceof StepTimeoutOrRejectionAction.Continue);
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.concat(Stream.of(title), show.values().stream());
    }
}
