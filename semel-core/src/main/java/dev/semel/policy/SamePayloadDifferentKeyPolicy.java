package dev.semel.policy;

/** What Semel does if the same payload comes with a different key. */
public enum SamePayloadDifferentKeyPolicy {
    ALLOW,
    FLAG,
    REJECT
}
