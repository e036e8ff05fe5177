package dev.semel.workflow;

import dev.semel.definition.CurrentStepScopedValue;

/** The step or effect whose code is running: its id, idempotency key and attempt number. */
public interface Step {
    /** Stable over retries, recovery, takeover and safe replay. */
    String id();

    /** The idempotency key for the external system; byte-identical in every attempt. */
    String key();

    /** The number of this attempt; 1 for the first. */
    int attempt();

    /** The step whose code runs on this thread. */
    static Step current() {
        if (!CurrentStepScopedValue.isBound()) {
            throw new IllegalStateException(
                    "No step is running on this thread. Call Step.current() inside the code of a step or effect.");
        }
        return CurrentStepScopedValue.get();
    }
}
