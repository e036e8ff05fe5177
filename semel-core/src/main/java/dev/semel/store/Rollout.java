package dev.semel.store;

/**
 * Which version of a workflow fresh triggers get: the current one, or a candidate for a percentage of them. An existing
 * key keeps the version that admitted it. Version numbers are never reused, also those of candidates.
 *
 * @param version the current version
 * @param candidate the version being rolled out; 0 for none
 * @param share percentage of fresh triggers for the candidate; 0 if there is none
 * @param latest the highest number so far
 */
public record Rollout(int version, int candidate, int share, int latest) {
    public static final int LARGEST_SHARE = 99;

    public Rollout {
        boolean fits = version >= 0 && candidate >= 0 && latest >= version && latest >= candidate;
        if (!fits || share < 0 || share > LARGEST_SHARE || (share == 0) != (candidate == 0)) {
            throw new IllegalArgumentException(
                    "invalid rollout: version " + version + ", " + share + " % to " + candidate + ", latest " + latest);
        }
    }

    /** One version for all triggers. */
    public static Rollout of(int version) {
        return new Rollout(version, 0, 0, version);
    }

    /** Which version already has the text that is being published. */
    public enum Same {
        NONE,
        CURRENT,
        CANDIDATE
    }

    /**
     * Publishes a text for all triggers. The current text changes nothing, so a server may publish its files at every
     * start.
     */
    public Rollout published(Same text) {
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
    public Rollout staged(Same text, int newShare) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new Rollout(version, candidate, newShare, latest);
            case NONE -> new Rollout(version, latest + 1, newShare, latest + 1);
        };
    }

    /** Makes the candidate current. @param wanted only if it is this one; 0 for any */
    public Rollout promoted(int wanted) {
        return candidate == 0 || (wanted != 0 && wanted != candidate) ? this : new Rollout(candidate, 0, 0, latest);
    }

    /** Ends the candidate. */
    public Rollout ended() {
        return new Rollout(version, 0, 0, latest);
    }
}
