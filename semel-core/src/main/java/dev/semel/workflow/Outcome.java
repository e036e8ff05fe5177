package dev.semel.workflow;

/** How an effect ended that is never sent twice: done, or nobody knows. */
public sealed interface Outcome<T> {
    record Done<T>(T value) implements Outcome<T> {}

    /** It was sent and its answer never came. It is not sent again; the workflow decides what that means. */
    record Indeterminate<T>(String why) implements Outcome<T> {}
}
