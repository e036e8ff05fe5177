package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.RunCancelled;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What user code does wrong, where the other store has statements of its own: transactions, rests, held runs. */
final class PostgresUserCodeTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final ManualClock clock = ManualClock.startingNow();
    private final StoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private SemelRuntime semel = open();

    private SemelRuntime open() {
        RuntimeOptions settings = RuntimeOptions.of(fixture.url(), version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        });
        return SemelRuntime.open(settings.withClock(clock.ambient(), clock.databaseSkew()));
    }

    @AfterEach
    void close() {
        semel.close();
        fixture.close();
    }

    private Workflow<String, String> flow(WorkflowFunction<String, String> body) {
        return Workflow.define("flow", String.class, String.class).body(body);
    }

    private RunHandle<String> start(WorkflowFunction<String, String> body) {
        Workflow<String, String> flow = flow(body);
        semel.register(flow);
        return semel.start(flow, "x");
    }

    private static void run(Connection sql, String statement) throws SQLException {
        try (Statement one = sql.createStatement()) {
            one.execute(statement);
        }
    }

    @Test
    void transaction_control_statements_are_rejected_and_the_rows_rolled_back() {
        start((ctx, _) -> {
                    ctx.tx("make", (sql, _) -> run(sql, "CREATE TABLE mine (n int)"));
                    return "";
                })
                .result(SOON);
        Workflow<String, String> other =
                Workflow.define("other", String.class, String.class).body((ctx, _) -> ctx.await(GO));
        semel.register(other);
        List<Step.TxAction> bad = List.of(
                (sql, _) -> sql.commit(),
                (sql, _) -> run(sql, "COMMIT"),
                (sql, _) -> run(sql, "INSERT INTO mine VALUES (2); ROLLBACK"),
                (_, _) -> semel.start(other, "y"),
                (_, _) -> Thread.currentThread().interrupt(),
                (_, _) -> {
                    throw new StackOverflowError();
                });
        AtomicInteger done = new AtomicInteger();
        for (Step.TxAction one : bad) {
            RunHandle<String> run = start((ctx, _) -> {
                ctx.step("rows").retry(Retry.none()).tx((sql, step) -> {
                    run(sql, "INSERT INTO mine VALUES (1)");
                    one.run(sql, step);
                });
                return "fine";
            });
            try {
                assertEquals("fine", run.result(SOON));
                done.incrementAndGet();
            } catch (StepFailed e) {
                assertEquals("rows", e.step());
            }
        }
        assertEquals(1, done.get(), "an interrupted thread alone fails nothing");
        assertEquals(1, fixture.count("mine"));
        start((ctx, _) -> {
                    ctx.tx("code", (sql, _) -> run(sql, "DO $$ BEGIN INSERT INTO mine VALUES (3); END $$"));
                    return "";
                })
                .result(SOON);
        assertEquals(2, fixture.count("mine"));
    }

    @Test
    void a_waiting_undo_suspends_and_a_held_run_continues_or_ends() {
        RunHandle<String> cancelled = start((ctx, _) -> {
            ctx.step("before", String.class, _ -> "");
            ctx.compensate("all", c -> c.sleep("rest", Duration.ofHours(5)));
            return ctx.await(GO);
        });
        until(cancelled, "signal");
        assertTrue(cancelled.cancel());
        until(cancelled, "sleep");
        // The engine counts after the commit that until() sees.
        Await.until("its two suspensions are counted", () -> semel.count("parkedRuns") >= 2);
        long before = semel.count("parkedRuns");
        RunHandle<String> held = start((ctx, _) -> ctx.step("a", String.class, _ -> "a") + ctx.await(GO));
        until(held, "signal");
        Await.until("its suspension is counted", () -> semel.count("parkedRuns") > before);
        assertEquals(before + 1, semel.count("parkedRuns"), "the cancelled run was taken up although nothing was due");
        semel.register(flow((ctx, _) -> ctx.step("b", String.class, _ -> "b") + ctx.await(GO)));
        held.signal(GO, "!", Key.of("k"));
        until(held, "code");
        long heldSoFar = semel.count("held");
        assertTrue(held.retryHeld());
        Await.until("it was looked at again", () -> semel.count("held") > heldSoFar);
        until(held, "code");
        assertTrue(held.cancel());
        assertThrows(RunCancelled.class, () -> held.result(SOON));
    }

    private static void until(RunHandle<?> run, String what) {
        Await.until(
                "it waits for " + what,
                () -> run.status() == (what.equals("code") ? RunStatus.HELD : RunStatus.WAITING)
                        && String.valueOf(run.waitingFor()).contains("\"for\":\"" + what + "\""));
    }
}
