package dev.semel.store;

/**
 * Which version of a workflow fresh triggers get: the current one, or a candidate for a percentage of them. An existing
 * key keeps the version that admitted it. Version numbers are never reused, also those of candidates.
 *
 * @param version the current version
 * @param candidate the version being rolled out; 0 for none
 * @param percentage percentage of fresh triggers for the candidate; 0 if there is none
 * @param latest the highest number so far
 */
public record Rollout(int version, int candidate, int percentage, int latest) {
    public static final int MAX_PERCENTAGE = 99;

    public Rollout {
        boolean fits = version >= 0 && candidate >= 0 && latest >= version && latest >= candidate;
        if (!fits || percentage < 0 || percentage > MAX_PERCENTAGE || (percentage == 0) != (candidate == 0)) {
            throw new IllegalArgumentException("invalid rollout: version " + version + ", " + percentage + " % to "
                    + candidate + ", latest " + latest);
        }
    }

    /** One version for all triggers. */
    public static Rollout of(int version) {
        return new Rollout(version, 0, 0, version);
    }

    /** Which version already has the text that is being published. */
    public enum MatchingVersion {
        NONE,
        CURRENT,
        CANDIDATE
    }

    /**
     * Publishes a text for all triggers. The current text changes nothing, so a server may publish its files at every
     * start.
     */
    public Rollout publish(MatchingVersion text) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new Rollout(candidate, 0, 0, latest);
            case NONE -> new Rollout(latest + 1, 0, 0, latest + 1);
        };
    }

    /**
     * Publishes a text for a percentage of triggers. The candidate's text changes the percentage; another text replaces
     * the candidate.
     */
    public Rollout stage(MatchingVersion text, int newShare) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new Rollout(version, candidate, newShare, latest);
            case NONE -> new Rollout(version, latest + 1, newShare, latest + 1);
        };
    }

    /** Makes the candidate current. @param wanted only if it is this one; 0 for any */
    public Rollout promote(int wanted) {
        return candidate == 0 || (wanted != 0 && wanted != candidate) ? this : new Rollout(candidate, 0, 0, latest);
    }

    /** Ends the candidate. */
    public Rollout endCandidate() {
        return new Rollout(version, 0, 0, latest);
    }
}
