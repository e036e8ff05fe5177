package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.Door;
import org.jspecify.annotations.Nullable;

/**
 * A run as a trigger asks for it. The store adds the time, the lineage and the links to earlier runs.
 *
 * @param fields keyed hashes of the fingerprint's fields
 * @param state `started`, or `queued` where it must wait
 */
public record NewRun(
        RunId id,
        int workspace,
        @Nullable String chosenId,
        String workflowId,
        int version,
        RunState state,
        Origin origin,
        String input,
        byte[] fields) {

    /** Who asked, through which door, under which key. */
    public record Origin(
            Door door,
            String actor,
            @Nullable String key,
            @Nullable String correlationId) {}
}
