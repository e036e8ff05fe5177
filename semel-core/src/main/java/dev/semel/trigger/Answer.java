package dev.semel.trigger;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a trigger got. {@code run} is the internal id; {@code runId} is what callers see.
 *
 * @param expiresAt microseconds; 0 where there is no key
 */
public record Answer(
        RunId run,
        String runId,
        RunState state,
        String workflowId,
        boolean replayed,
        boolean mismatch,
        List<String> changed,
        long expiresAt,
        @Nullable String previousRunId,
        @Nullable String duplicateOf) {}
