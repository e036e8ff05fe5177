package dev.semel.store;

/**
 * An existing key keeps the version that admitted it. Version numbers are never reused, also those of candidates.
 *
 * @param candidate 0 for none
 * @param percentage percentage of fresh triggers for the candidate; 0 if there is none
 * @param latest the highest number so far
 */
public record WorkflowVersionRollout(int version, int candidate, int percentage, int latest) {
    public static final int MAX_PERCENTAGE = 99;

    public WorkflowVersionRollout {
        boolean fits = version >= 0 && candidate >= 0 && latest >= version && latest >= candidate;
        if (!fits || percentage < 0 || percentage > MAX_PERCENTAGE || (percentage == 0) != (candidate == 0)) {
            throw new IllegalArgumentException("invalid rollout: version " + version + ", " + percentage + " % to "
                    + candidate + ", latest " + latest);
        }
    }

    /** One version for all triggers. */
    public static WorkflowVersionRollout of(int version) {
        return new WorkflowVersionRollout(version, 0, 0, version);
    }

    /** Which version already has the text that is being published. */
    public enum MatchingVersion {
        NONE,
        CURRENT,
        CANDIDATE
    }

    /** The current text changes nothing, so a server may publish its files at every start. */
    public WorkflowVersionRollout publish(MatchingVersion text) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new WorkflowVersionRollout(candidate, 0, 0, latest);
            case NONE -> new WorkflowVersionRollout(latest + 1, 0, 0, latest + 1);
        };
    }

    /** The candidate's text changes the percentage; another text replaces the candidate. */
    public WorkflowVersionRollout stage(MatchingVersion text, int newShare) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new WorkflowVersionRollout(version, candidate, newShare, latest);
            case NONE -> new WorkflowVersionRollout(version, latest + 1, newShare, latest + 1);
        };
    }

    /** Makes the candidate current. @param wanted only if it is this one; 0 for any */
    public WorkflowVersionRollout promote(int wanted) {
        return candidate == 0 || (wanted != 0 && wanted != candidate)
                ? this
                : new WorkflowVersionRollout(candidate, 0, 0, latest);
    }

    public WorkflowVersionRollout endCandidate() {
        return new WorkflowVersionRollout(version, 0, 0, latest);
    }
}
