package dev.semel.engine;

/**
 * @param steps recorded steps of one run; it has at most as many items of loops
 * @param journalBytes text of the journal of one run
 * @param activeBytes estimated memory of all runs that this worker executes at the same time; further runs stay queued
 */
public record RunSizeLimits(int steps, long journalBytes, long activeBytes) {
    /** A quarter of the heap: the rest is for requests, batches and garbage. */
    public static final RunSizeLimits DEFAULT =
            new RunSizeLimits(100_000, 64L << 20, Runtime.getRuntime().maxMemory() / 4);

    public RunSizeLimits {
        if (steps < 1 || journalBytes < 1 || activeBytes < 1) {
            throw new IllegalArgumentException("every size limit of runs must be at least 1");
        }
    }

    public RunSizeLimits withSteps(int value) {
        return new RunSizeLimits(value, journalBytes, activeBytes);
    }

    public RunSizeLimits withJournalBytes(long value) {
        return new RunSizeLimits(steps, value, activeBytes);
    }

    public RunSizeLimits withActiveBytes(long value) {
        return new RunSizeLimits(steps, journalBytes, value);
    }
}
