package dev.semel.workflow;

import java.sql.Connection;

/** The code of a {@code tx} step without a result. */
@FunctionalInterface
public interface TxAction {
    void run(Connection sql, Step step) throws Exception;
}
