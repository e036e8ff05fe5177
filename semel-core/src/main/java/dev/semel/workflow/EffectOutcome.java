package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/** The outcome of an at-most-once effect: done with a value, or indeterminate. */
public sealed interface EffectOutcome<T extends @Nullable Object> {
    record Done<T extends @Nullable Object>(T value) implements EffectOutcome<T> {}

    /**
     * The effect was sent and no response arrived. Semel does not send it again; the workflow decides how to continue.
     */
    record Indeterminate<T extends @Nullable Object>(String why) implements EffectOutcome<T> {}
}
