package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.StepFailed;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Rows that a run committed together with its record are written once, also by those that replay it. */
final class TxReplayTest extends OnAFile {
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private Workflow<String, Integer> booking() {
        return Workflow.define("booking", String.class, Integer.class).body((ctx, in) -> {
            int rows = ctx.tx("book", Integer.class, (connection, _) -> {
                try (var statement = connection.createStatement()) {
                    statement.execute("CREATE TABLE IF NOT EXISTS booked (what TEXT)");
                    statement.execute("INSERT INTO booked VALUES ('" + in + "')");
                    try (var count = statement.executeQuery("SELECT count(*) FROM booked")) {
                        count.next();
                        return count.getInt(1);
                    }
                }
            });
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
    void a_replay_finds_what_the_first_run_committed() {
        Workflow<String, Integer> booking = booking();
        semel.register(booking);
        Run<Integer> first = semel.start(booking, "a");
        assertThrows(StepFailed.class, () -> first.result(SOON));
        broken.set(false);
        Run<Integer> replay = semel.start(booking, "a", Start.replayOf(first.id()));
        assertEquals(1, replay.result(SOON));
        assertEquals(2, semel.start(booking, "b").result(SOON), "another run writes its own");
    }
}
