package dev.semel.workflow;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The code of a {@code tx} step: its rows commit together with the record of the step. */
@FunctionalInterface
public interface TxFunction<T extends @Nullable Object> {
    T run(Connection sql, Step step) throws Exception;
}
