package dev.semel.workflow;

/** The outcome of an at-most-once effect: done with a value, or indeterminate. */
public sealed interface EffectOutcome<T> {
    record Done<T>(T value) implements EffectOutcome<T> {}

    /**
     * The effect was sent and no response arrived. Semel does not send it again; the workflow decides how to continue.
     */
    record Indeterminate<T>(String why) implements EffectOutcome<T> {}
}
