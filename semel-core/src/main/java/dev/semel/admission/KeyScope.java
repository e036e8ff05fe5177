package dev.semel.admission;

/** Where an idempotency key is unique. */
public enum KeyScope {
    WORKSPACE,
    WORKFLOW
}
