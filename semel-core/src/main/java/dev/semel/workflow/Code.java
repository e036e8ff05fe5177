package dev.semel.workflow;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The shapes of the code that users hand in. All of it may throw anything. */
public final class Code {
    private Code() {}

    /** A workflow: from its input to its output, reaching the world only through the context. */
    @FunctionalInterface
    public interface Flow<I, O> {
        O run(Context ctx, I input) throws Exception;
    }

    /** The work of a step or effect. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Step step) throws Exception;
    }

    /** Work without a result. */
    @FunctionalInterface
    public interface Action {
        void run(Step step) throws Exception;
    }

    /** Asks the outside world for the result of an earlier send under this step's key; null where it knows of none. */
    @FunctionalInterface
    public interface Lookup<T> {
        @Nullable
        T find(Step step) throws Exception;
    }

    /** Work whose rows commit together with the record of the step. */
    @FunctionalInterface
    public interface TxWork<T> {
        T run(Connection sql, Step step) throws Exception;
    }

    @FunctionalInterface
    public interface TxAction {
        void run(Connection sql, Step step) throws Exception;
    }

    /** What is done for one item, in a scope of its own. */
    @FunctionalInterface
    public interface Each<T, R> {
        R run(Context ctx, T item) throws Exception;
    }

    /** Undoes what was done, in a scope of its own. */
    @FunctionalInterface
    public interface Undo {
        void run(Context ctx) throws Exception;
    }
}
