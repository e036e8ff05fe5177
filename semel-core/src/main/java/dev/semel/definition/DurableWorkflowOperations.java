package dev.semel.definition;

import dev.semel.error.JsonConversionFailed;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Start;
import dev.semel.workflow.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@link Context} is the typed API. A recorded step never runs again. Only the thread of body or branch may use it. */
public interface DurableWorkflowOperations {
    String runId();

    /** Stable over retries, recovery, takeover and safe replay, so that external systems can use it as a key. */
    String stepId(String name);

    /** Later executions return the recorded result. A crash before the result is recorded makes the code run again. */
    JsonNode step(StepSpec plan, StepWork work);

    /** A step with one attempt and no timeout. */
    default JsonNode step(String name, Supplier<JsonNode> work) {
        return step(StepSpec.named(name), _ -> work.get());
    }

    /** Performs one side effect in an external system, under the protection that the plan declares. */
    EffectOutcome<JsonNode> effect(EffectSpec plan, EffectSender sending);

    /** The earlier effect because of which the named effect was suppressed; null if it was not suppressed. */
    default @Nullable EarlierEffect suppressedBy(String effect) {
        return null;
    }

    /** Whether the named effect is a notification that was skipped because this replay sends no notifications. */
    default boolean isNotificationSkipped(String effect) {
        return false;
    }

    /** @param at when the provider accepted it, by the store's clock; null if an older version of Semel recorded it */
    record EarlierEffect(String runId, @Nullable Instant at) {}

    /** Writes the user's rows and the record of the step in one commit of the store's own database. */
    JsonNode tx(StepSpec plan, TxWork work);

    /** Waits by the store's clock; the due time is recorded at the first call. */
    void sleep(String name, Duration length);

    void sleepUntil(String name, Instant due);

    /** Waits for the next signal of that name and returns its value; null after the time limit. */
    @Nullable
    JsonNode await(String name, String signal, @Nullable Duration longest);

    /** Waits for a signal to the run or to this key. Signals to the key may arrive before the wait begins. */
    @Nullable
    JsonNode await(String name, String signal, String key, @Nullable Duration longest);

    /** Counts only messages that arrive after the run began and after the previous wait in the same scope ended. */
    @Nullable
    JsonNode awaitReply(String name, String from, @Nullable Duration longest);

    /** The number of ancestor runs: runs that started each other by steps, ending with this run. */
    int depth();

    ApprovalDecision approval(String name, ApprovalRequest approval);

    /** Each branch runs in a scope named by the item's key. Returns the results in the order of the items. */
    <I, R> List<R> forEach(String name, KeyedItems<I> items, Branch<I, R> branch);

    /** Starts a child workflow once and waits for its output. */
    JsonNode call(String name, ChildWorkflowCall child);

    /** Registers a compensation; compensations run in reverse order if the run fails or is cancelled. */
    void compensate(String name, Compensation undo);

    /** Sends a signal to another run once. */
    void signal(String name, OutgoingSignal signal);

    /** The recorded time, by the store's clock. */
    Instant now();

    UUID uuid();

    /** A random number from 0 (inclusive) to 1 (exclusive), recorded. */
    double random();

    /** Sets the business status of this run that users see. */
    void status(String text);

    /** Waits until everything recorded so far is durable. */
    void awaitDurable();

    /**
     * Handles a recorded value that does not fit its type in this code. The engine holds the run, so that nothing is
     * compensated because of a deploy. Returns what the caller throws.
     */
    default RuntimeException toMismatchEnd(JsonConversionFailed mismatch) {
        return mismatch;
    }

    @FunctionalInterface
    interface StepWork {
        JsonNode run(Step step) throws Exception;
    }

    interface EffectSender {
        JsonNode send(Step step) throws Exception;

        /** Queries the external system for the result of an earlier send with this key; null if it has none. */
        default @Nullable JsonNode lookup(Step step) throws Exception {
            throw new UnsupportedOperationException(
                    "only effects with the protection `lookup` can query the external system");
        }
    }

    @FunctionalInterface
    interface TxWork {
        JsonNode run(java.sql.Connection sql, Step step) throws Exception;
    }

    /**
     * @param keys one distinct key per value; step ids depend on it
     * @param concurrency how many items run concurrently
     */
    record KeyedItems<I>(List<String> keys, List<I> values, int concurrency) {}

    @FunctionalInterface
    interface Branch<I, R> {
        R run(DurableWorkflowOperations scope, I item) throws Exception;
    }

    @FunctionalInterface
    interface Compensation {
        void run(DurableWorkflowOperations scope) throws Exception;
    }

    /** @param rejectCycles rejects the call if a run of that workflow already waits for the caller, directly or not */
    record ChildWorkflowCall(String workflow, JsonNode input, Start start, boolean rejectCycles) {}

    /** A signal for another run, which receives signals with the same key once. */
    record OutgoingSignal(
            String runId,
            String signal,
            JsonNode value,
            @Nullable String key) {}
}
