package dev.semel.workflow;

/** The outcome of an approval: approved, rejected or timed out. */
public sealed interface ApprovalDecision {
    record Approved(String by, String note) implements ApprovalDecision {}

    record Rejected(String by, String note) implements ApprovalDecision {}

    record TimedOut() implements ApprovalDecision {}
}
