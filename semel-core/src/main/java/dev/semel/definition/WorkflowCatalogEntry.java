package dev.semel.definition;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param candidate the version that a percentage of new triggers gets instead; null for none
 * @param catalogVersion catalog version of this state; an admission under another catalog version reads it again
 */
public record WorkflowCatalogEntry(
        WorkflowVersion published, boolean paused, @Nullable Candidate candidate, long catalogVersion) {
    /** @param rolloutPercentage percentage of fresh triggers that get this version */
    public record Candidate(WorkflowVersion published, int rolloutPercentage) {}

    /** The versions that a new trigger may get. */
    public List<WorkflowVersion> versions() {
        return candidate == null ? List.of(published) : List.of(published, candidate.published());
    }

    /** The same workflow for a trigger that is assigned to the candidate. */
    public WorkflowCatalogEntry withCandidate(Candidate one) {
        return new WorkflowCatalogEntry(one.published(), paused, null, catalogVersion);
    }
}
