package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.StepFailed;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Rows that a run committed together with its record are written once, also by those that replay it. */
final class TxReplayTest extends SqliteTestBase {
    private final AtomicBoolean broken = new AtomicBoolean(true);

    @Test
    void of_two_runs_of_a_lineage_the_later_one_finds_the_committed_rows() throws Exception {
        CountDownLatch come = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        Workflow<String, Integer> slow = Workflow.define("slow", String.class, Integer.class)
                .body((ctx, in) -> {
                    ctx.step("wait").run(Integer.class, _ -> {
                        if (begun.incrementAndGet() == 1) {
                            come.countDown();
                            go.await();
                        }
                        return 0;
                    });
                    return ctx.tx("book", Integer.class, (connection, _) -> book(connection, in));
                });
        semel.register(slow);
        RunHandle<Integer> first = semel.start(slow, "a");
        come.await();
        RunHandle<Integer> second = semel.start(slow, "a", Start.replayOf(first.id()));
        assertEquals(1, second.result(SOON));
        go.countDown();
        assertEquals(1, first.result(SOON), "its rows are there, and written once");
    }

    private static int book(Connection connection, String what) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS booked (what TEXT)");
            statement.execute("INSERT INTO booked VALUES ('" + what + "')");
            try (var count = statement.executeQuery("SELECT count(*) FROM booked")) {
                count.next();
                return count.getInt(1);
            }
        }
    }

    private Workflow<String, Integer> booking() {
        return Workflow.define("booking", String.class, Integer.class).body((ctx, in) -> {
            int rows = ctx.tx("book", Integer.class, (connection, _) -> book(connection, in));
            ctx.step("check").run(Integer.class, _ -> {
                if (broken.get()) {
                    throw new IllegalStateException("not today");
                }
                return rows;
            });
            return rows;
        });
    }

    @Test
    void a_replay_finds_the_rows_that_the_first_run_committed() {
        Workflow<String, Integer> booking = booking();
        semel.register(booking);
        RunHandle<Integer> first = semel.start(booking, "a");
        assertThrows(StepFailed.class, () -> first.result(SOON));
        broken.set(false);
        RunHandle<Integer> replay = semel.start(booking, "a", Start.replayOf(first.id()));
        assertEquals(1, replay.result(SOON));
        assertEquals(2, semel.start(booking, "b").result(SOON), "another run writes its own");
    }
}
