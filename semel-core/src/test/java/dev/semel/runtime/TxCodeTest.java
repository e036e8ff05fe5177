package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.error.StepFailed;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The user's code inside the transaction of a store with one writer. */
final class TxCodeTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);
    private static final Workflow<String, String> ANOTHER =
            Workflow.define("another", String.class, String.class).body((ctx, in) -> ctx.await(GO));

    @BeforeEach
    void table() {
        semel.register(ANOTHER);
        start(flow((ctx, _) -> {
                    ctx.tx("make", (sql, _) -> run(sql, "CREATE TABLE mine (n INTEGER PRIMARY KEY)"));
                    return "";
                }))
                .result(SOON);
    }

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private static void run(Connection sql, String statement) throws SQLException {
        try (Statement one = sql.createStatement()) {
            one.execute(statement);
        }
    }

    private int rows() {
        return start(flow(
                        Integer.class,
                        (ctx, _) -> ctx.tx("count", Integer.class, (sql, _) -> {
                            try (Statement one = sql.createStatement();
                                    ResultSet rows = one.executeQuery("SELECT count(*) FROM mine")) {
                                rows.next();
                                return rows.getInt(1);
                            }
                        })))
                .result(SOON);
    }

    private StepFailed refused(Step.TxAction code) {
        return failure(start(flow((ctx, _) -> {
            ctx.step("rows").retry(Retry.none()).tx((sql, step) -> {
                run(sql, "INSERT INTO mine VALUES (1)");
                code.run(sql, step);
            });
            return "never";
        })));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c",
                "INSERT INTO mine WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
            })
    void an_endless_statement_is_stopped_and_its_rows_are_rolled_back(String endless) {
        StepFailed failed = refused((sql, _) -> run(sql, endless));
        assertEquals("rows", failed.step());
        assertEquals(0, rows(), "the row before it, and those that it had made");
    }

    @Test
    void a_failure_rolls_back_the_rows_and_nothing_else() {
        StepFailed failed = refused((_, _) -> {
            throw new java.io.IOException("no");
        });
        assertEquals("rows", failed.step());
        assertEquals(0, rows());
        refused((_, _) -> {
            throw new StackOverflowError();
        });
        assertEquals(0, rows());
    }

    @Test
    void user_code_may_not_end_the_transaction() {
        List<Step.TxAction> ends = List.of(
                (sql, _) -> sql.commit(),
                (sql, _) -> sql.rollback(),
                (sql, _) -> sql.setAutoCommit(true),
                (sql, _) -> run(sql, "COMMIT"),
                (sql, _) -> run(sql, "  -- well\n /* hm */ rollback"),
                (sql, _) -> run(sql, "INSERT INTO mine VALUES (2); COMMIT;"),
                (sql, _) -> run(sql, "INSERT INTO mine VALUES (2) ; begin"),
                (sql, _) -> {
                    try (var prepared = sql.prepareStatement("END")) {
                        prepared.execute();
                    }
                },
                (sql, _) -> {
                    try (Statement one = sql.createStatement()) {
                        one.addBatch("COMMIT");
                        one.executeBatch();
                    }
                },
                (sql, _) -> {
                    try (Statement one = sql.createStatement()) {
                        one.getConnection().commit();
                    }
                },
                (sql, _) -> sql.unwrap(Object.class));
        for (Step.TxAction end : ends) {
            StepFailed failed = refused(end);
            assertEquals("rows", failed.step());
            says(failed, "rolled back the database changes of this step");
        }
        assertEquals(0, rows());
    }

    @Test
    void statements_that_only_look_like_transaction_control_are_allowed() {
        start(flow((ctx, _) -> {
                    ctx.tx("fine", (sql, _) -> {
                        run(sql, "INSERT INTO mine VALUES (1) -- ; COMMIT");
                        run(sql, "CREATE TABLE \"commit; rollback\" (begin_at TEXT DEFAULT '; END')");
                        run(sql, "CREATE TRIGGER t AFTER INSERT ON mine BEGIN DELETE FROM mine WHERE n = 99; END");
                        var savepoint = sql.setSavepoint();
                        run(sql, "INSERT INTO mine VALUES (2)");
                        sql.rollback(savepoint);
                        try (sql) {
                            run(sql, "INSERT INTO mine VALUES (3)");
                        }
                    });
                    return "";
                }))
                .result(SOON);
        assertEquals(2, rows());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_statement_that_rolls_back_the_whole_transaction_harms_no_other_write(boolean swallowed) {
        StepFailed failed = refused((sql, _) -> {
            try {
                run(sql, "INSERT OR ROLLBACK INTO mine VALUES (1)");
            } catch (SQLException e) {
                if (!swallowed) {
                    throw e;
                }
                run(sql, "INSERT INTO mine VALUES (7)");
            }
        });
        assertEquals("rows", failed.step());
        assertEquals(0, rows());
    }

    @Test
    void slow_code_is_rolled_back_with_an_error() {
        AtomicInteger times = new AtomicInteger();
        StepFailed failed = refused((sql, _) -> {
            times.incrementAndGet();
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < Duration.ofMillis(1_050).toNanos()) {
                Thread.onSpinWait();
            }
        });
        assertEquals(1, times.get());
        says(failed, "took longer than PT1S");
        assertEquals(0, rows());
    }

    @Test
    void code_that_would_wait_for_the_writer_is_rejected() {
        RunHandle<String> other = semel.start(ANOTHER, "x");
        List<Runnable> asked = List.of(
                () -> semel.start(ANOTHER, "y"),
                () -> other.result(SOON),
                () -> other.signal(GO, "", Key.of("k")),
                other::cancel,
                () -> semel.idempotent("o").caller("a").key("k").call(Integer.class, () -> 1),
                () -> semel.register(ANOTHER));
        for (Runnable one : asked) {
            StepFailed failed = refused((_, _) -> one.run());
            assertEquals("rows", failed.step());
            says(failed, "The code of tx step \"rows\" tried to");
        }
        assertEquals(0, rows());
        assertFalse(other.status().hasEnded(), "nothing was done to it");
    }

    @Test
    void code_that_failed_once_is_retried_and_its_rows_count_once() {
        AtomicInteger times = new AtomicInteger();
        String result = start(flow((ctx, _) -> ctx.step("rows")
                        .retry(Retry.exponential(Duration.ofMillis(1)))
                        .tx(String.class, (sql, step) -> {
                            run(sql, "INSERT INTO mine VALUES (1)");
                            if (times.incrementAndGet() < 3) {
                                throw new java.io.IOException("again");
                            }
                            return "attempt " + step.attempt();
                        })))
                .result(SOON);
        assertEquals("attempt 3", result);
        assertEquals(1, rows());
    }
}
