package dev.semel.store;

/**
 * How often in a row the worker of a run died while it executed the run. A death in which the run was the only one on
 * trial counts as {@link #ALONE}: it is almost certainly the cause.
 */
public record CrashCount(int stored) {
    /** A run is on trial if its worker died more often than this. */
    public static final int BEFORE_TRIAL = 2;

    public static final int ALONE = 100;

    public boolean isOnTrial() {
        return stored > BEFORE_TRIAL;
    }

    /** Deaths in which it was the only run on trial. */
    public int alone() {
        return stored / ALONE;
    }

    public int total() {
        return stored / ALONE + stored % ALONE;
    }
}
