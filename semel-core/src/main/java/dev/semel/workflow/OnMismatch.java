package dev.semel.workflow;

/** What Semel does if an existing key comes with a different payload. */
public enum OnMismatch {
    REJECT,
    REPLAY,
    DISTINCT
}
