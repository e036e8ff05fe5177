package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.engine.Ambient;
import dev.semel.engine.Keeping;
import dev.semel.engine.Limits;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.Rows;
import dev.semel.store.Waiting;
import dev.semel.testing.ManualClock;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What has a time of its own goes in that time, by the engine itself; the run stays. */
final class PayloadRetentionTest extends OnAFile {
    private final ManualClock clock = ManualClock.startingNow();
    private final Workflow<String, String> flow = flow(
            String.class,
            (ctx, in) -> ctx.effect("pay").key("pay", in).repeatable("a test").call(String.class, _ -> "paid"));

    @Override
    protected Ambient ambient() {
        return clock.ambient();
    }

    @Override
    protected Limits limits() {
        return Limits.DEFAULT.withKeeping(
                new Keeping(Duration.ofDays(7), null, null, Keeping.LEAST_EVENTS, Duration.ofDays(30)));
    }

    private Rows.Run row(Run<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return Objects.requireNonNull(semel.view(reads -> reads.claimed(id)));
    }

    @Test
    void a_payload_goes_before_its_run_which_is_then_not_replayed() {
        semel.register(flow);
        Run<String> old = semel.start(flow, "x");
        assertEquals("paid", old.result(SOON));
        clock.advance(Duration.ofDays(5));
        Run<String> young = semel.start(flow, "y");
        assertEquals("paid", young.result(SOON));
        clock.advance(Duration.ofDays(3));
        Waiting.until("its payload is gone", () -> row(old).input().equals("{}"));
        Rows.End end = Objects.requireNonNull(row(old).end());
        assertNull(end.ending().output());
        assertEquals("\"y\"", row(young).input());
        SemelException refused =
                assertThrows(SemelException.class, () -> semel.start(flow, "x", Start.replayOf(old.id())));
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
    }

    @Test
    void times_that_would_break_a_promise_are_refused() {
        Duration week = Keeping.LEAST_EVENTS;
        assertThrows(IllegalArgumentException.class, () -> new Keeping(Duration.ofMinutes(1), null, null, week, null));
        assertThrows(IllegalArgumentException.class, () -> new Keeping(null, null, null, week.minusSeconds(1), null));
        assertThrows(IllegalArgumentException.class, () -> new Keeping(null, null, week, week, null));
        assertThrows(IllegalArgumentException.class, () -> new Keeping(null, null, null, week, Duration.ofHours(23)));
    }
}
