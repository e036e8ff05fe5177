package dev.semel.workflow;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a run is asked for: under a key, under a chosen run id, or as a safe replay of a run.
 *
 * @param replayOf the id of a run whose lineage the new run continues, so that its effects carry the same keys
 * @param otherInput the replay may have another input than the run that it replays
 * @param delay between the admission and the start of a fresh run; null for none
 */
public record Start(
        @Nullable String key,
        @Nullable String id,
        @Nullable String replayOf,
        @Nullable String correlationId,
        boolean otherInput,
        @Nullable Duration delay) {
    public Start {
        if (delay != null && (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0)) {
            throw new IllegalArgumentException("a delay is at most 365 days, and none is negative");
        }
    }

    private static final Duration LONGEST_DELAY = Duration.ofDays(365);

    /** No name: the workflow's own key, or a new run each time. */
    public static Start fresh() {
        return new Start(null, null, null, null, false, null);
    }

    /** One part is the key itself, as a header would carry it; several are joined as {@link Key} says. */
    public static Start withKey(@Nullable Object... parts) {
        return new Start(Key.of(parts).text(), null, null, null, false, null);
    }

    public static Start withId(String runId) {
        return new Start(null, runId, null, null, false, null);
    }

    /**
     * A safe replay: with the input of that run, or it is refused. It is named by the run that it follows: asked for twice,
     * or beside a plan or a person who lets that run go on, there is one run, and all are answered with it.
     */
    public static Start replayOf(String runId) {
        return new Start(null, null, runId, null, false, null);
    }

    /**
     * A safe replay that may have another input. What is on record is reused all the same: an effect that was done for
     * the old input is not done again for the new one.
     */
    public static Start replayWithOtherInput(String runId) {
        return new Start(null, null, runId, null, true, null);
    }

    public Start key(String value) {
        return new Start(value, id, replayOf, correlationId, otherInput, delay);
    }

    /** A fresh run starts so much later; its key, its run id and its place in queues are taken at once. */
    public Start delay(Duration value) {
        return new Start(key, id, replayOf, correlationId, otherInput, value);
    }

    public Start correlationId(String value) {
        return new Start(key, id, replayOf, value, otherInput, delay);
    }
}
