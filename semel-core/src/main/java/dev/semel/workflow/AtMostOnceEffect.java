package dev.semel.workflow;

import dev.semel.definition.EffectSpec;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An effect that Semel never sends twice. The workflow receives the outcome and handles an indeterminate one. */
public final class AtMostOnceEffect {
    private final JavaWorkflowJsonAdapter wire;
    private final EffectSpec plan;

    AtMostOnceEffect(JavaWorkflowJsonAdapter wire, EffectSpec plan) {
        this.wire = wire;
        this.plan = plan;
    }

    public <T extends @Nullable Object> EffectOutcome<T> call(Class<T> type, Step.StepFunction<T> work) {
        return call(TypeRef.of(type), work);
    }

    public <T extends @Nullable Object> EffectOutcome<T> call(TypeRef<T> type, Step.StepFunction<T> work) {
        return typed(wire.operations().effect(plan, Effect.senderOf(wire, plan, work)), type);
    }

    /** An effect without a result; the value of {@link EffectOutcome.Done} is null. */
    public EffectOutcome<Void> call(Step.StepAction action) {
        return typed(wire.operations().effect(plan, Effect.senderOf(action)), TypeRef.of(Void.class));
    }

    private <T extends @Nullable Object> EffectOutcome<T> typed(EffectOutcome<JsonNode> outcome, TypeRef<T> type) {
        return switch (outcome) {
            case EffectOutcome.Done<JsonNode>(JsonNode value) ->
                new EffectOutcome.Done<>(wire.readResult(value, type, Effect.describe(plan)));
            case EffectOutcome.Indeterminate<JsonNode>(String why) -> new EffectOutcome.Indeterminate<>(why);
        };
    }
}
