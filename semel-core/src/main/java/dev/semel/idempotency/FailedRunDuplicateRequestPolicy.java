package dev.semel.idempotency;

public enum FailedRunDuplicateRequestPolicy {
    RETURN_FAILED,
    RUN_AGAIN
}
