package dev.semel.workflow;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A workflow as it is now: the version that new triggers get, and whether they wait.
 *
 * @param candidate the version that a share of them gets instead; null for none
 * @param change of the catalog under which this was true; an admission under another one looks again
 */
public record Current(
        Published published, boolean paused, @Nullable Candidate candidate, long change) {
    /** @param share of the fresh triggers, in per cent */
    public record Candidate(Published published, int share) {}

    /** One version for all. */
    public Current(Published published, boolean paused, long change) {
        this(published, paused, null, change);
    }

    /** What a new trigger may get. */
    public List<Published> versions() {
        return candidate == null ? List.of(published) : List.of(published, candidate.published());
    }

    /** The same workflow for a trigger that drew the candidate. */
    public Current drawn(Candidate one) {
        return new Current(one.published(), paused, null, change);
    }
}
