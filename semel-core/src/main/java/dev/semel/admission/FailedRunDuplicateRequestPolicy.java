package dev.semel.admission;

public enum FailedRunDuplicateRequestPolicy {
    RETURN_FAILED,
    RUN_AGAIN
}
