package dev.semel.definition;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The current state of a workflow: the version for new triggers, whether it is paused, and the rollout candidate.
 *
 * @param candidate the version that a percentage of new triggers gets instead; null for none
 * @param catalogVersion catalog version of this state; an admission under another catalog version reads it again
 */
public record CurrentWorkflow(
        WorkflowVersion published, boolean paused, @Nullable Candidate candidate, long catalogVersion) {
    /** @param rolloutPercentage percentage of fresh triggers that get this version */
    public record Candidate(WorkflowVersion published, int rolloutPercentage) {}

    /** A workflow without a rollout candidate. */
    public CurrentWorkflow(WorkflowVersion published, boolean paused, long change) {
        this(published, paused, null, change);
    }

    /** The versions that a new trigger may get. */
    public List<WorkflowVersion> versions() {
        return candidate == null ? List.of(published) : List.of(published, candidate.published());
    }

    /** The same workflow for a trigger that is assigned to the candidate. */
    public CurrentWorkflow withCandidate(Candidate one) {
        return new CurrentWorkflow(one.published(), paused, null, catalogVersion);
    }
}
