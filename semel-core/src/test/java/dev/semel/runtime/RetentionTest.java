package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Runs are removed long after their end, by the engine itself. */
final class RetentionTest extends SqliteTestBase {
    private final ManualClock clock = ManualClock.startingNow();
    private final Workflow<String, String> flow = flow(
            String.class,
            (ctx, in) -> ctx.effect("pay").key("pay", in).repeatable("a test").call(String.class, _ -> "paid"));

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    private boolean isThere(RunHandle<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return semel.view(reads -> reads.claimedRun(id)) != null;
    }

    @Test
    void a_finished_run_is_removed_after_ninety_days_and_its_key_starts_a_new_one() {
        semel.register(flow);
        RunHandle<String> old = semel.start(flow, "x", Start.withKey("k"));
        assertEquals("paid", old.result(SOON));
        clock.advance(Duration.ofDays(60));
        RunHandle<String> younger = semel.start(flow, "x", Start.withKey("k"));
        assertFalse(younger.replayed(), "the window is over");
        assertEquals("paid", younger.result(SOON));
        clock.advance(Duration.ofDays(31));
        Await.until("the older one is gone", () -> !isThere(old));
        assertEquals(true, isThere(younger));
        assertEquals(1, semel.count("runsRemoved"));
    }

    @Test
    void a_run_about_to_be_removed_is_not_replayed() {
        semel.register(flow);
        RunHandle<String> old = semel.start(flow, "x");
        assertEquals("paid", old.result(SOON));
        clock.advance(Duration.ofDays(90).minusMinutes(30));
        SemelException refused =
                assertThrows(SemelException.class, () -> semel.start(flow, "x", Start.replayOf(old.id())));
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
    }
}
