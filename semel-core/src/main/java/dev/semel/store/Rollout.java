package dev.semel.store;

/**
 * Which version of a workflow fresh triggers get. Whatever is decided here, a known key stays with the version that
 * admitted it. Versions are numbered by when they were published: one that was only ever a candidate has its number
 * for good.
 *
 * @param version the current one, for all triggers but the share
 * @param candidate the one that is tried; 0 for none
 * @param share per cent of the fresh triggers that the candidate gets; 0 where there is none
 * @param latest the highest number given so far
 */
public record Rollout(int version, int candidate, int share, int latest) {
    public static final int LARGEST_SHARE = 99;

    public Rollout {
        boolean fits = version >= 0 && candidate >= 0 && latest >= version && latest >= candidate;
        if (!fits || share < 0 || share > LARGEST_SHARE || (share == 0) != (candidate == 0)) {
            throw new IllegalArgumentException(
                    "no rollout: version " + version + ", " + share + " % to " + candidate + ", latest " + latest);
        }
    }

    /** One version for all. */
    public static Rollout of(int version) {
        return new Rollout(version, 0, 0, version);
    }

    /** The version that has the text which somebody publishes. */
    public enum Same {
        NONE,
        CURRENT,
        CANDIDATE
    }

    /** A text for all. The current one again changes nothing, so a server that publishes its files may start again. */
    public Rollout published(Same text) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new Rollout(candidate, 0, 0, latest);
            case NONE -> new Rollout(latest + 1, 0, 0, latest + 1);
        };
    }

    /** A text for a share. The candidate's again changes how large its share is; another one takes its place. */
    public Rollout staged(Same text, int newShare) {
        return switch (text) {
            case CURRENT -> this;
            case CANDIDATE -> new Rollout(version, candidate, newShare, latest);
            case NONE -> new Rollout(version, latest + 1, newShare, latest + 1);
        };
    }

    /** The candidate becomes the current version. @param wanted only if it is this one; 0 for any */
    public Rollout promoted(int wanted) {
        return candidate == 0 || (wanted != 0 && wanted != candidate) ? this : new Rollout(candidate, 0, 0, latest);
    }

    /** The candidate gets no more triggers. */
    public Rollout ended() {
        return new Rollout(version, 0, 0, latest);
    }
}
