package dev.semel;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a run waits for. */
public sealed interface Waiting {
    /**
     * A signal.
     *
     * @param step the step that waits
     * @param key the key of a keyed signal; null for a signal that is sent to the run
     * @param until when the wait ends without a signal; null for no limit
     */
    record ForSignal(
            String step,
            String name,
            @Nullable String key,
            @Nullable Instant until) implements Waiting {}

    /**
     * A time: a timer of the workflow, the next attempt of a step, or the delayed or debounced start of the run.
     *
     * @param step the step that waits; empty for the start of the run
     * @param retry whether this is the next attempt of a step or effect
     */
    record ForTime(String step, Instant until, boolean retry) implements Waiting {}

    /**
     * A decision of a user: an approval, an effect in doubt, or a changed message.
     *
     * @param until when the wait ends without a decision; null for no limit
     */
    record ForReview(String step, @Nullable Instant until) implements Waiting {}

    /** A child run, or another run that is performing the same effect. */
    record ForRun(String step, String runId) implements Waiting {}

    /** A concurrency limit of the workflow, or a paused workflow. */
    record ForLimit() implements Waiting {}

    /** An operator: the run is held. {@link Run#retryHeld} continues it. */
    record ForOperator(String step, String reason) implements Waiting {}
}
