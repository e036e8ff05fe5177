package dev.semel.trials.chaos.checks;

/**
 * Something that was done to a process.
 *
 * @param worker which one; "postgres" for the database
 * @param from when it began, in microseconds; {@code to} when it was over
 */
public record Fault(Kind kind, String worker, long from, long to) {
    /** What is done. */
    public enum Kind {
        KILLED,
        FROZEN,
        FROZEN_IN_A_BATCH,
        /** It works, but its lease cannot be renewed, and its forward clock may stand still. */
        LAPSED,
        DATABASE_KILLED
    }

    /** Whether a request of the worker at that time may be one that it was about to send when it lost its lease. */
    boolean excuses(long at, long afterwards) {
        return switch (kind) {
            case FROZEN, FROZEN_IN_A_BATCH -> at >= to && at <= to + afterwards;
            case LAPSED -> at >= from && at <= to + afterwards;
            case KILLED, DATABASE_KILLED -> false;
        };
    }
}
