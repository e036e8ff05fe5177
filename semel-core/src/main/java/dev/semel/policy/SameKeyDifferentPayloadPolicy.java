package dev.semel.policy;

/** What Semel does if an existing key comes with a different payload. */
public enum SameKeyDifferentPayloadPolicy {
    REJECT,
    REPLAY,
    DISTINCT
}
