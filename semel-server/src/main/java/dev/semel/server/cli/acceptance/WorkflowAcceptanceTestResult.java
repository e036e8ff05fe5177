package dev.semel.server.cli.acceptance;

import java.util.Locale;

/** @param evidence what was observed, in a sentence; after a failure also what to do */
record WorkflowAcceptanceTestResult(String title, Outcome outcome, String evidence) {
    /** A check that was not exercised has not passed. */
    enum Outcome {
        PASSED("pass"),
        FAILED("FAIL"),
        NOT_TRIED("not tried");

        final String mark;

        Outcome(String mark) {
            this.mark = mark;
        }

        /** The first that applies, in this order: failed, not tried, passed. */
        static Outcome of(boolean passed, boolean tried) {
            return !passed ? FAILED : tried ? PASSED : NOT_TRIED;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    boolean passed() {
        return outcome == Outcome.PASSED;
    }
}
