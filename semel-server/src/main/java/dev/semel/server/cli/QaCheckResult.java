package dev.semel.server.cli;

/**
 * Result of one check of the checklist.
 *
 * @param evidence what was observed, in a sentence; after a failure also what to do
 */
record QaCheckResult(String title, boolean passed, String evidence) {
    static QaCheckResult passed(String title, String evidence) {
        return new QaCheckResult(title, true, evidence);
    }

    static QaCheckResult failed(String title, String evidence) {
        return new QaCheckResult(title, false, evidence);
    }
}
