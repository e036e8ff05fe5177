package dev.semel.workflow;

import dev.semel.definition.EffectSpec;
import tools.jackson.databind.JsonNode;

/** An effect that Semel never sends twice. The workflow receives the outcome and handles an indeterminate one. */
public final class AtMostOnceEffect {
    private final JsonBridge wire;
    private final EffectSpec plan;

    AtMostOnceEffect(JsonBridge wire, EffectSpec plan) {
        this.wire = wire;
        this.plan = plan;
    }

    public <T> Outcome<T> call(Class<T> type, StepFunction<T> work) {
        return call(TypeRef.of(type), work);
    }

    public <T> Outcome<T> call(TypeRef<T> type, StepFunction<T> work) {
        return typed(wire.operations().effect(plan, Effect.senderOf(wire, plan, work)), type);
    }

    /** An effect without a result; the value of {@link Outcome.Done} is null. */
    public Outcome<Void> call(StepAction action) {
        return typed(wire.operations().effect(plan, Effect.senderOf(action)), TypeRef.of(Void.class));
    }

    private <T> Outcome<T> typed(Outcome<JsonNode> outcome, TypeRef<T> type) {
        return switch (outcome) {
            case Outcome.Done<JsonNode>(JsonNode value) ->
                new Outcome.Done<>(wire.readResult(value, type, Effect.describe(plan)));
            case Outcome.Indeterminate<JsonNode>(String why) -> new Outcome.Indeterminate<>(why);
        };
    }
}
