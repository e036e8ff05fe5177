package dev.semel.workflow;

/** What Semel does with an effect whose data changed inside its {@code once} window. */
public enum OnChange {
    SEND,
    SUPPRESS,
    REVIEW
}
