package dev.semel.workflow;

/** What people decided, or that nobody did. */
public sealed interface Decision {
    record Approved(String by, String note) implements Decision {}

    record Rejected(String by, String note) implements Decision {}

    record TimedOut() implements Decision {}
}
