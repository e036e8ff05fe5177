package dev.semel.workflow;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The durable operations of one run, in JSON: what the engine offers to every kind of workflow. {@link Context} is its
 * typed face for Java; workflow files use it as it is. Everything that goes through it is on record, and a recorded
 * step never runs again. Used only by the thread that runs the body, or the branch it was handed to.
 */
public interface Durable {
    /** The id of the run that callers see. */
    String runId();

    /**
     * The id of a step of this scope, deterministic and stable over retries, recovery, takeover and safe replay: fit to
     * be handed to an outside system as its idempotency key.
     */
    String stepId(String name);

    /**
     * Runs repeatable work and records its result; after a crash the recorded result is returned instead. Between doing
     * and recording a crash may make it run again.
     */
    JsonNode step(StepPlan plan, Work work);

    /** A step with nothing but a name: tried once, without a time limit. */
    default JsonNode step(String name, Supplier<JsonNode> work) {
        return step(StepPlan.named(name), _ -> work.get());
    }

    /** One deed in the outside world, under the protection that the plan states. */
    Outcome<JsonNode> effect(EffectPlan plan, Sending sending);

    /** Whose deed stands for the effect of that name, where it was suppressed; null where it was not, or never asked for. */
    default @Nullable Earlier earlier(String effect) {
        return null;
    }

    /** Whether the effect of that name is a notification that was not sent, because the run is a replay that sends none. */
    default boolean isSilent(String effect) {
        return false;
    }

    /**
     * A deed of another run that was accepted inside the window.
     *
     * @param at by the store's clock; null where an older version recorded it
     */
    record Earlier(String runId, @Nullable Instant at) {}

    /** The user's rows and the record of the step, in one commit of the store's own database. */
    JsonNode tx(StepPlan plan, TxWork work);

    /** Waits until the time has come by the store's clock; the due time is fixed when it is first asked. */
    void sleep(String name, Duration length);

    void sleepUntil(String name, Instant due);

    /** The value of the next signal of that name, or null when the longest time has passed. */
    @Nullable
    JsonNode await(String name, String signal, @Nullable Duration longest);

    /**
     * The same, also for a signal that is sent to this key by somebody who does not know the run, be it before the wait
     * begins.
     */
    @Nullable
    JsonNode await(String name, String signal, String key, @Nullable Duration longest);

    /**
     * Waits for a message of this sender: one that came since the run began, and since the last wait before it in the same
     * scope was over. What was said before the question is no answer to it.
     */
    @Nullable
    JsonNode awaitReply(String name, String from, @Nullable Duration longest);

    /** So many runs, each started by a step of the one before, stand between this run and whoever began. */
    int depth();

    /** Asks people to decide. */
    Decision approval(String name, Approval approval);

    /** Runs a branch for each item, each in a scope named by its key, so many at once. Results in the items' order. */
    <I, R> List<R> forEach(String name, Items<I> items, Branch<I, R> branch);

    /** Starts another workflow, once, and waits for its output. */
    JsonNode call(String name, Child child);

    /** Registers what undoes the work so far; undos run in reverse if the run fails or is cancelled. */
    void compensate(String name, Undo undo);

    /** Sends a signal to another run, once. */
    void signal(String name, Outgoing signal);

    /** The time by the store's clock, recorded. */
    Instant now();

    UUID uuid();

    /** A number from 0 (inclusive) to 1 (exclusive), recorded. */
    double random();

    /** What people see as the state of the business in this run. */
    void status(String text);

    /** Waits until everything so far is on disk. */
    void durable();

    @FunctionalInterface
    interface Work {
        JsonNode run(Step step) throws Exception;
    }

    /** How an effect is sent, and how the outside world is asked whether it was. */
    interface Sending {
        JsonNode send(Step step) throws Exception;

        /** The result of an earlier send under this key, or null where the outside world knows of none. */
        default @Nullable JsonNode find(Step step) throws Exception {
            throw new UnsupportedOperationException("only the protection `lookup` asks");
        }
    }

    @FunctionalInterface
    interface TxWork {
        JsonNode run(java.sql.Connection sql, Step step) throws Exception;
    }

    /**
     * What a forEach goes over.
     *
     * @param keys one for each value, unlike each other; step ids hang on them
     */
    record Items<I>(List<String> keys, List<I> values, int atOnce) {}

    @FunctionalInterface
    interface Branch<I, R> {
        R run(Durable scope, I item) throws Exception;
    }

    @FunctionalInterface
    interface Undo {
        void run(Durable scope) throws Exception;
    }

    /**
     * A workflow to start: by name, with its input and the names the caller gives it.
     *
     * @param once refused where a run of that workflow waits for the caller: for those who cannot end a circle themselves
     */
    record Child(String workflow, JsonNode input, Start start, boolean once) {
        /** Code may call itself, and knows when it is enough. */
        public Child(String workflow, JsonNode input, Start start) {
            this(workflow, input, start, false);
        }
    }

    /** A signal for another run; sent twice with the same key it arrives once. */
    record Outgoing(
            String runId,
            String signal,
            JsonNode value,
            @Nullable String key) {}
}
