package dev.semel.admission;

public enum IdempotencyKeyScope {
    WORKSPACE,
    WORKFLOW
}
