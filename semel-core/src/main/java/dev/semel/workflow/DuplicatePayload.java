package dev.semel.workflow;

/** What Semel does if the same payload comes with a different key. */
public enum DuplicatePayload {
    ALLOW,
    FLAG,
    REJECT
}
