package dev.semel.idempotency;

public enum IdempotencyKeyScope {
    WORKSPACE,
    WORKFLOW
}
