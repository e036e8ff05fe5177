package dev.semel.server.cli;

/**
 * Result of one check of the checklist.
 *
 * @param evidence what was observed, in a sentence; after a failure also what to do
 */
record QaLine(String title, boolean passed, String evidence) {
    static QaLine passed(String title, String evidence) {
        return new QaLine(title, true, evidence);
    }

    static QaLine failed(String title, String evidence) {
        return new QaLine(title, false, evidence);
    }
}
