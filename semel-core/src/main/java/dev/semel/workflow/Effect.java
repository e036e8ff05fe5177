package dev.semel.workflow;

import dev.semel.error.InDoubt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A side effect with a declared protection, ready to be called. */
public final class Effect {
    private final Wire wire;
    private final EffectPlan plan;

    Effect(Wire wire, EffectPlan plan) {
        this.wire = wire;
        this.plan = plan;
    }

    /**
     * Performs the effect and records its result; later executions return it. Pass {@link Step#key} to the provider.
     */
    public <T> T call(Class<T> type, Code.Work<T> work) {
        return call(TypeRef.of(type), work);
    }

    public <T> T call(TypeRef<T> type, Code.Work<T> work) {
        Outcome<JsonNode> outcome = wire.durable().effect(plan, sending(wire, plan, work));
        return wire.result(done(outcome, plan), type, what(plan));
    }

    public void call(Code.Action action) {
        done(wire.durable().effect(plan, sending(action)), plan);
    }

    static String what(EffectPlan plan) {
        return "effect \"" + plan.step().name() + "\"";
    }

    static <T> Durable.Sending sending(Wire wire, EffectPlan plan, Code.Work<T> work) {
        Durable.Work written = wire.sent(what(plan), work);
        return new Durable.Sending() {
            @Override
            public JsonNode send(Step step) throws Exception {
                return written.run(step);
            }
        };
    }

    static Durable.Sending sending(Code.Action action) {
        return new Durable.Sending() {
            @Override
            public JsonNode send(Step step) throws Exception {
                action.run(step);
                return JsonNodeFactory.instance.nullNode();
            }
        };
    }

    static JsonNode done(Outcome<JsonNode> outcome, EffectPlan plan) {
        return switch (outcome) {
            case Outcome.Done<JsonNode>(JsonNode value) -> value;
            case Outcome.Indeterminate<JsonNode>(String why) ->
                throw new InDoubt(plan.step().name(), why);
        };
    }
}
