package dev.semel.policy;

/** What Semel does with an effect whose data changed inside its {@code once} window. */
public enum ChangedEffectDataPolicy {
    SEND,
    SUPPRESS,
    REVIEW
}
