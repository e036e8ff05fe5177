package dev.semel.store;

/**
 * How much memory claimed runs may use at a worker. A parsed tree of small JSON values uses about 20 times its text; the
 * journal is kept as text.
 *
 * @param free bytes for all runs of the claim
 * @param perRun at most so many bytes are counted for one run
 */
public record ClaimMemory(long free, long perRun) {
    public static final ClaimMemory UNLIMITED = new ClaimMemory(Long.MAX_VALUE, Long.MAX_VALUE);

    /** Thread, state and small objects of any run. */
    private static final long BASE = 4 * 1024;

    public static final long PER_INPUT_BYTE = 20;

    public static final long PER_JOURNAL_BYTE = 3;

    public long estimate(long input, long journal) {
        return Math.min(perRun, BASE + PER_INPUT_BYTE * input + PER_JOURNAL_BYTE * journal);
    }

    public ClaimMemory without(long bytes) {
        return new ClaimMemory(free - bytes, perRun);
    }
}
