package dev.semel.workflow;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A side effect whose provider Semel queries for an earlier result before it sends again. */
public final class LookupEffect<T> {
    private final Wire wire;
    private final EffectPlan plan;
    private final TypeRef<T> type;
    private final Code.Lookup<T> lookup;

    LookupEffect(Wire wire, EffectPlan plan, TypeRef<T> type, Code.Lookup<T> lookup) {
        this.wire = wire;
        this.plan = plan;
        this.type = type;
        this.lookup = lookup;
    }

    /**
     * Performs the effect, or takes the result that the provider reports. Later executions return the recorded result.
     */
    public T call(Code.Work<T> work) {
        Durable.Work written = wire.sent(Effect.what(plan), work);
        Outcome<JsonNode> outcome = wire.durable().effect(plan, new Durable.Sending() {
            @Override
            public JsonNode send(Step step) throws Exception {
                return written.run(step);
            }

            @Override
            public @Nullable JsonNode find(Step step) throws Exception {
                T found = lookup.find(step);
                return found == null ? null : wire.codec().write(found, "the lookup result of " + Effect.what(plan));
            }
        });
        return wire.result(Effect.done(outcome, plan), type, Effect.what(plan));
    }
}
