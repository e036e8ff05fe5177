package dev.semel.admission;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param run the internal id of the run
 * @param runId the public id of the run: generated, or chosen by the caller
 * @param payloadMismatch whether the payload differs from the payload of the first request with this key
 * @param changedFields names of the fields that differ
 * @param expiresAt when the key expires, in microseconds; 0 without a key
 * @param previousRunId the run that used the key before, if the key had expired or was released
 * @param duplicateOf another run with the same payload and a different key
 */
public record TriggerResult(
        RunId run,
        String runId,
        RunState state,
        String workflowId,
        boolean replayed,
        boolean payloadMismatch,
        List<String> changedFields,
        long expiresAt,
        @Nullable String previousRunId,
        @Nullable String duplicateOf) {}
