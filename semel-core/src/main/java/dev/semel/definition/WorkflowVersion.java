package dev.semel.definition;

import dev.semel.idempotency.KeyPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param earlierVersions other versions, newest first, that stored keys differently (another scope, or with the
 *     fingerprint): a legitimate retry after a publish or a rollout is found under the old form of its key
 */
public record WorkflowVersion(
        String workflowId,
        String name,
        int version,
        KeyPolicy policy,
        WorkflowBody body,
        List<WorkflowVersion> earlierVersions,
        VersionOptions options) {
    /** @param deadline maximum duration of a whole run; null for none */
    public record VersionOptions(
            ConcurrencyControl concurrency, @Nullable Duration deadline, WorkflowTriggers triggers) {
        public static final VersionOptions NONE =
                new VersionOptions(ConcurrencyControl.NONE, null, WorkflowTriggers.NONE);
    }

    public WorkflowVersion {
        earlierVersions = List.copyOf(earlierVersions);
    }
}
