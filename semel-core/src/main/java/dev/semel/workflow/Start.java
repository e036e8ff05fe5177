package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/**
 * How a run is asked for: under a key, under a chosen run id, or as a safe replay of a run.
 *
 * @param replayOf the id of a run whose lineage the new run continues, so that its effects carry the same keys
 */
public record Start(
        @Nullable String key,
        @Nullable String id,
        @Nullable String replayOf,
        @Nullable String correlationId) {
    /** No name: the workflow's own key, or a new run each time. */
    public static Start fresh() {
        return new Start(null, null, null, null);
    }

    /** One part is the key itself, as a header would carry it; several are joined as {@link Key} says. */
    public static Start withKey(@Nullable Object... parts) {
        return new Start(Key.of(parts).text(), null, null, null);
    }

    public static Start withId(String runId) {
        return new Start(null, runId, null, null);
    }

    public static Start replayOf(String runId) {
        return new Start(null, null, runId, null);
    }

    public Start key(String value) {
        return new Start(value, id, replayOf, correlationId);
    }

    public Start correlationId(String value) {
        return new Start(key, id, replayOf, value);
    }
}
