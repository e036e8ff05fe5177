package dev.semel.workflow;

/** Where an idempotency key is unique. */
public enum KeyScope {
    WORKSPACE,
    WORKFLOW
}
