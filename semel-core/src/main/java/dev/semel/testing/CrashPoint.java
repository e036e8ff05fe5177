package dev.semel.testing;

/**
 * A place where a process can die, e.g. {@code effect-sent 2}: the second time that something was sent and its result is
 * not on record. The labels are those of the crash table in the document on internals.
 *
 * @param pass 1 for the first time
 */
public record CrashPoint(String label, int pass) {
    public CrashPoint {
        if (pass < 1) {
            throw new IllegalArgumentException("the first pass is 1, not " + pass);
        }
    }

    @Override
    public String toString() {
        return label + " " + pass;
    }
}
