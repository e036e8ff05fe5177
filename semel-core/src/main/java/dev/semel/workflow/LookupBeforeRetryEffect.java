package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A side effect whose provider Semel queries for an earlier result before it sends again. */
public final class LookupBeforeRetryEffect<T extends @Nullable Object> {
    private final JavaWorkflowJsonAdapter wire;
    private final EffectSpec plan;
    private final TypeRef<T> type;
    private final ProviderLookup<T> lookup;

    LookupBeforeRetryEffect(JavaWorkflowJsonAdapter wire, EffectSpec plan, TypeRef<T> type, ProviderLookup<T> lookup) {
        this.wire = wire;
        this.plan = plan;
        this.type = type;
        this.lookup = lookup;
    }

    /**
     * Performs the effect, or takes the result that the provider reports. Later executions return the recorded result.
     */
    public T call(Step.StepFunction<T> work) {
        DurableWorkflowOperations.StepWork written = wire.effectWork(Effect.describe(plan), work);
        EffectOutcome<JsonNode> outcome = wire.operations().effect(plan, new DurableWorkflowOperations.EffectSender() {
            @Override
            public JsonNode send(Step step) throws Exception {
                return written.run(step);
            }

            @Override
            public @Nullable JsonNode lookup(Step step) throws Exception {
                T found = lookup.find(step);
                return found == null
                        ? null
                        : wire.codec().write(found, "the lookup result of " + Effect.describe(plan));
            }
        });
        return wire.readResult(Effect.requireDone(outcome, plan), type, Effect.describe(plan));
    }

    /** Queries the provider for the result of an earlier send with this step's key; null if it has none. */
    @FunctionalInterface
    public interface ProviderLookup<T extends @Nullable Object> {
        @Nullable
        T find(Step step) throws Exception;
    }
}
