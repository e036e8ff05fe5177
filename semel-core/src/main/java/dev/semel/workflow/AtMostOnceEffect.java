package dev.semel.workflow;

import tools.jackson.databind.JsonNode;

/** An effect that Semel never sends twice. The workflow receives the outcome and handles an indeterminate one. */
public final class AtMostOnceEffect {
    private final Wire wire;
    private final EffectPlan plan;

    AtMostOnceEffect(Wire wire, EffectPlan plan) {
        this.wire = wire;
        this.plan = plan;
    }

    public <T> Outcome<T> call(Class<T> type, Code.Work<T> work) {
        return call(TypeRef.of(type), work);
    }

    public <T> Outcome<T> call(TypeRef<T> type, Code.Work<T> work) {
        return typed(wire.durable().effect(plan, Effect.sending(wire, plan, work)), type);
    }

    /** An effect without a result; the value of {@link Outcome.Done} is null. */
    public Outcome<Void> call(Code.Action action) {
        return typed(wire.durable().effect(plan, Effect.sending(action)), TypeRef.of(Void.class));
    }

    private <T> Outcome<T> typed(Outcome<JsonNode> outcome, TypeRef<T> type) {
        return switch (outcome) {
            case Outcome.Done<JsonNode>(JsonNode value) ->
                new Outcome.Done<>(wire.result(value, type, Effect.what(plan)));
            case Outcome.Indeterminate<JsonNode>(String why) -> new Outcome.Indeterminate<>(why);
        };
    }
}
