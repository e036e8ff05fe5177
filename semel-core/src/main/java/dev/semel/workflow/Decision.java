package dev.semel.workflow;

/** The outcome of an approval: approved, rejected or timed out. */
public sealed interface Decision {
    record Approved(String by, String note) implements Decision {}

    record Rejected(String by, String note) implements Decision {}

    record TimedOut() implements Decision {}
}
