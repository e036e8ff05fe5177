package dev.semel.testing;

/**
 * A labelled point in the engine where the test kit can simulate a crash, and the pass at which it crashes.
 * {@code effect-sent 2} is the second time that an effect was sent and its result is not recorded yet. The crash table
 * in the internals documentation lists the labels.
 *
 * @param pass 1 for the first pass
 */
record CrashInjectionPoint(String label, int pass) {
    CrashInjectionPoint {
        if (pass < 1) {
            throw new IllegalArgumentException(
                    "the number of the pass through the crash point must be at least 1, not " + pass);
        }
    }

    @Override
    public String toString() {
        return label + " " + pass;
    }
}
