package dev.semel.workflow;

import dev.semel.definition.CurrentStepScopedValue;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

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

    /** The code of a step or effect; may throw any exception. */
    @FunctionalInterface
    public interface StepFunction<T extends @Nullable Object> {
        T run(Step step) throws Exception;
    }

    /** The code of a step or effect without a result; may throw any exception. */
    @FunctionalInterface
    public interface StepAction {
        void run(Step step) throws Exception;
    }

    /** The code of a {@code tx} step: its rows commit together with the record of the step. */
    @FunctionalInterface
    public interface TxFunction<T extends @Nullable Object> {
        T run(Connection sql, Step step) throws Exception;
    }

    /** The code of a {@code tx} step without a result. */
    @FunctionalInterface
    public interface TxAction {
        void run(Connection sql, Step step) throws Exception;
    }
}
