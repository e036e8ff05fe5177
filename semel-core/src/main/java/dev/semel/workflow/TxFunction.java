package dev.semel.workflow;

import java.sql.Connection;

/** The code of a {@code tx} step: its rows commit together with the record of the step. */
@FunctionalInterface
public interface TxFunction<T> {
    T run(Connection sql, Step step) throws Exception;
}
