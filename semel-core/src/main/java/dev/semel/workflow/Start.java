package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/**
 * How a run is asked for: under a key, under a chosen run id, or as a safe replay of a run.
 *
 * @param replayOf the id of a run whose lineage the new run continues, so that its effects carry the same keys
 * @param otherInput the replay may have another input than the run that it replays
 */
public record Start(
        @Nullable String key,
        @Nullable String id,
        @Nullable String replayOf,
        @Nullable String correlationId,
        boolean otherInput) {
    /** No name: the workflow's own key, or a new run each time. */
    public static Start fresh() {
        return new Start(null, null, null, null, false);
    }

    /** One part is the key itself, as a header would carry it; several are joined as {@link Key} says. */
    public static Start withKey(@Nullable Object... parts) {
        return new Start(Key.of(parts).text(), null, null, null, false);
    }

    public static Start withId(String runId) {
        return new Start(null, runId, null, null, false);
    }

    /** A safe replay: with the input of that run, or it is refused. */
    public static Start replayOf(String runId) {
        return new Start(null, null, runId, null, false);
    }

    /**
     * A safe replay that may have another input. What is on record is reused all the same: an effect that was done for
     * the old input is not done again for the new one.
     */
    public static Start replayWithOtherInput(String runId) {
        return new Start(null, null, runId, null, true);
    }

    public Start key(String value) {
        return new Start(value, id, replayOf, correlationId, otherInput);
    }

    public Start correlationId(String value) {
        return new Start(key, id, replayOf, value, otherInput);
    }
}
