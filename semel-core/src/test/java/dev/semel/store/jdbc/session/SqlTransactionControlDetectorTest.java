package dev.semel.store.jdbc.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What ends a transaction is found, and what only looks like it is not. */
final class SqlTransactionControlDetectorTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "COMMIT | COMMIT",
                "commit; | COMMIT",
                "/* x */ rollback | ROLLBACK",
                "SELECT ';'; begin immediate | BEGIN",
                "INSERT INTO t VALUES ($1); END | END",
                "START TRANSACTION | START",
                "insert or  rollback into t values (1) | OR  ROLLBACK",
                "CREATE TABLE t (n INT UNIQUE ON CONFLICT ROLLBACK) | CONFLICT ROLLBACK",
                "attach database x as y | ATTACH",
                "SET search_path TO x | SET",
                "set session role x | SET",
                "SELECT 1; RESET ALL | RESET",
                "prepare transaction 'x' | PREPARE",
            })
    void found(String sql, String word) {
        assertEquals(word, SqlTransactionControlDetector.findIn(sql));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ";;",
                "SELECT 'commit; rollback'",
                "SELECT \"end\" FROM t -- ; commit",
                "/* ; commit",
                "UPDATE t SET ended = 1",
                "SET LOCAL search_path TO x",
                "set  constraints all deferred",
                "SETTLE",
                "PREPARE q AS SELECT 1",
                "INSERT INTO t VALUES ('it''s; commit')",
                "INSERT INTO t VALUES ('commit or rollback')",
                "ROLLBACK TO SAVEPOINT a",
                "rollback transaction to a",
                "SAVEPOINT a",
                "DO $$ BEGIN INSERT INTO t VALUES (1); END $$",
                "DO $x$ BEGIN COMMIT; END $x$; SELECT 1",
                "SELECT $1, $2; SELECT 2",
                "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END",
                "'",
            })
    void other_statements_are_not_detected(String sql) {
        assertNull(SqlTransactionControlDetector.findIn(sql));
    }
}
