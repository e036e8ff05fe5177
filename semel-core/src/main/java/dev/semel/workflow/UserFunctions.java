package dev.semel.workflow;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The functional interfaces of the code that users write for workflows and steps. All may throw any exception. */
public final class UserFunctions {
    private UserFunctions() {}

    /**
     * The body of a workflow: computes its output from its input and performs side effects only through the context.
     */
    @FunctionalInterface
    public interface WorkflowFunction<I, O> {
        O run(Context ctx, I input) throws Exception;
    }

    /** The code of a step or effect. */
    @FunctionalInterface
    public interface StepFunction<T> {
        T run(Step step) throws Exception;
    }

    /** The code of a step or effect without a result. */
    @FunctionalInterface
    public interface StepAction {
        void run(Step step) throws Exception;
    }

    /** Queries the provider for the result of an earlier send with this step's key; null if it has none. */
    @FunctionalInterface
    public interface LookupFunction<T> {
        @Nullable
        T find(Step step) throws Exception;
    }

    /** The code of a {@code tx} step: its rows commit together with the record of the step. */
    @FunctionalInterface
    public interface TxFunction<T> {
        T run(Connection sql, Step step) throws Exception;
    }

    /** The code of a {@code tx} step without a result. */
    @FunctionalInterface
    public interface TxAction {
        void run(Connection sql, Step step) throws Exception;
    }

    /** The code for one item of a {@code forEach}; its step names have their own scope. */
    @FunctionalInterface
    public interface ItemFunction<T, R> {
        R run(Context ctx, T item) throws Exception;
    }

    /** The code of a compensation; its step names have their own scope. */
    @FunctionalInterface
    public interface Compensation {
        void run(Context ctx) throws Exception;
    }
}
