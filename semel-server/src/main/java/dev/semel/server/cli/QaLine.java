package dev.semel.server.cli;

/** One line of the checklist. @param evidence what was seen, in a sentence; where it failed, also what to do */
record QaLine(String title, boolean passed, String evidence) {
    static QaLine passed(String title, String evidence) {
        return new QaLine(title, true, evidence);
    }

    static QaLine failed(String title, String evidence) {
        return new QaLine(title, false, evidence);
    }
}
