package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import dev.semel.error.EffectInDoubt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A side effect with a declared protection, ready to be called. */
public final class Effect {
    private final JavaWorkflowJsonAdapter wire;
    private final EffectSpec plan;

    Effect(JavaWorkflowJsonAdapter wire, EffectSpec plan) {
        this.wire = wire;
        this.plan = plan;
    }

    /**
     * Performs the effect and records its result; later executions return it. Pass {@link Step#key} to the provider.
     */
    public <T extends @Nullable Object> T call(Class<T> type, Step.StepFunction<T> work) {
        return call(TypeRef.of(type), work);
    }

    public <T extends @Nullable Object> T call(TypeRef<T> type, Step.StepFunction<T> work) {
        EffectOutcome<JsonNode> outcome = wire.operations().effect(plan, senderOf(wire, plan, work));
        return wire.readResult(requireDone(outcome, plan), type, describe(plan));
    }

    public void call(Step.StepAction action) {
        requireDone(wire.operations().effect(plan, senderOf(action)), plan);
    }

    static String describe(EffectSpec plan) {
        return "effect \"" + plan.step().name() + "\"";
    }

    static <T extends @Nullable Object> DurableWorkflowOperations.EffectSender senderOf(
            JavaWorkflowJsonAdapter wire, EffectSpec plan, Step.StepFunction<T> work) {
        DurableWorkflowOperations.StepWork written = wire.effectWork(describe(plan), work);
        return new DurableWorkflowOperations.EffectSender() {
            @Override
            public JsonNode send(Step step) throws Exception {
                return written.run(step);
            }
        };
    }

    static DurableWorkflowOperations.EffectSender senderOf(Step.StepAction action) {
        return new DurableWorkflowOperations.EffectSender() {
            @Override
            public JsonNode send(Step step) throws Exception {
                action.run(step);
                return JsonNodeFactory.instance.nullNode();
            }
        };
    }

    static JsonNode requireDone(EffectOutcome<JsonNode> outcome, EffectSpec plan) {
        return switch (outcome) {
            case EffectOutcome.Done<JsonNode>(JsonNode value) -> value;
            case EffectOutcome.Indeterminate<JsonNode>(String why) ->
                throw new EffectInDoubt(plan.step().name(), why);
        };
    }
}
