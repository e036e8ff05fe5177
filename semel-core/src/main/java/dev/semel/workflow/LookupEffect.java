package dev.semel.workflow;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A deed whose provider is asked first what became of it. */
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

    /** Does it, or takes what the provider found, once; returns the recorded result ever after. */
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
                return found == null ? null : wire.codec().write(found, "what was found of " + Effect.what(plan));
            }
        });
        return wire.result(Effect.done(outcome, plan), type, Effect.what(plan));
    }
}
