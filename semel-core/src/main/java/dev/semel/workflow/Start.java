package dev.semel.workflow;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options for starting a run: idempotency key, chosen run id, safe replay of another run, and delay.
 *
 * @param replayOf id of the run to replay; the new run continues its lineage, so its effects have the same keys
 * @param allowsOtherInput whether the replay may have a different input than the original run
 * @param delay time between the admission and the start of a fresh run; null for none
 */
public record Start(
        @Nullable String key,
        @Nullable String id,
        @Nullable String replayOf,
        @Nullable String correlationId,
        boolean allowsOtherInput,
        @Nullable Duration delay) {
    public Start {
        if (delay != null && (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0)) {
            throw new IllegalArgumentException("the delay must be between 0 and 365 days, not " + delay);
        }
    }

    private static final Duration LONGEST_DELAY = Duration.ofDays(365);

    /** No options: the key that the workflow derives or, without one, a new run each time. */
    public static Start fresh() {
        return new Start(null, null, null, null, false, null);
    }

    /** Starts with a key. A single part is the key itself; several parts are joined as in {@link Key}. */
    public static Start withKey(@Nullable Object... parts) {
        return new Start(Key.of(parts).text(), null, null, null, false, null);
    }

    public static Start withId(String runId) {
        return new Start(null, runId, null, null, false, null);
    }

    /**
     * A safe replay of a run; Semel rejects it if the input differs. Its key is the id of the original run: repeated
     * requests, replay plans and users who replay the same run all get one run.
     */
    public static Start replayOf(String runId) {
        return new Start(null, null, runId, null, false, null);
    }

    /**
     * A safe replay that may have a different input. Semel still reuses recorded effects: an effect that was done for
     * the old input is not sent again for the new one.
     */
    public static Start replayWithOtherInput(String runId) {
        return new Start(null, null, runId, null, true, null);
    }

    public Start key(String value) {
        return new Start(value, id, replayOf, correlationId, allowsOtherInput, delay);
    }

    /** Delays the start of a fresh run. Semel claims its key, run id and queue position immediately. */
    public Start delay(Duration value) {
        return new Start(key, id, replayOf, correlationId, allowsOtherInput, value);
    }

    public Start correlationId(String value) {
        return new Start(key, id, replayOf, value, allowsOtherInput, delay);
    }
}
