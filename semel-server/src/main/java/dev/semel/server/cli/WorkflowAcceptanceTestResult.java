package dev.semel.server.cli;

/** @param evidence what was observed, in a sentence; after a failure also what to do */
record WorkflowAcceptanceTestResult(String title, boolean passed, String evidence) {}
