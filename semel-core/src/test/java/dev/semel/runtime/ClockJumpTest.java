package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.TrustedClock;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The clock of the machine jumps; keys and runs survive it. */
final class ClockJumpTest extends SqliteTestBase {
    private static final Duration FAR = Duration.ofDays(100);

    private final ClockAndRandomSource real = ClockAndRandomSource.real();
    private final AtomicLong machine = new AtomicLong(real.micros());
    private final AtomicLong boot = new AtomicLong(1_000_000_000);
    private final List<Runnable> jumps = new CopyOnWriteArrayList<>();
    private final Workflow<String, String> flow = flow(
            String.class,
            (ctx, in) -> ctx.effect("pay")
                    .key("pay", in)
                    .oncePer(Duration.ofDays(1))
                    .repeatable("a test")
                    .call(String.class, _ -> "paid"));

    @Override
    protected ClockAndRandomSource ambient() {
        return new ClockAndRandomSource(
                machine::get,
                real::nanos,
                real.random(),
                new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void onClockJump(Runnable callback) {
                        jumps.add(callback);
                    }
                },
                new TrustedClock.BootClock("boot", boot::get));
    }

    private void jump(Duration by) {
        machine.addAndGet(by.toNanos() / 1_000);
        jumps.forEach(Runnable::run);
    }

    /** In small steps: the engine may read the two clocks at any moment between them. */
    private void pass(Duration by) {
        long step = Duration.ofSeconds(20).toNanos() / 1_000;
        for (long left = by.toNanos() / 1_000; left > 0; left -= step) {
            boot.addAndGet(Math.min(left, step));
            machine.addAndGet(Math.min(left, step));
        }
        jump(Duration.ZERO);
    }

    private boolean isThere(RunHandle<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return semel.view(reads -> reads.claimedRun(id)) != null;
    }

    private RunHandle<String> send() {
        RunHandle<String> run = semel.start(flow, "x", Start.withKey("k"));
        assertEquals("paid", run.result(SOON));
        return run;
    }

    @Test
    void a_passing_clock_error_deletes_nothing_and_ends_no_key_window() {
        semel.register(flow);
        RunHandle<String> first = send();
        jump(FAR);
        assertTrue(send().replayed(), "the key is still in its window");
        assertTrue(semel.isReady());
        assertTrue(String.valueOf(semel.health().warning()).contains("jumped"), "readiness reports the jump");
        pass(Duration.ofSeconds(28));
        assertTrue(send().replayed());
        jump(FAR.negated());
        assertNotNull(semel.health().warning(), "the clock jumped again");
        pass(Duration.ofMinutes(62));
        Await.until("both clocks agreed for an hour", () -> semel.health().warning() == null);
        assertTrue(send().replayed());
        assertTrue(isThere(first));
        assertEquals(0, semel.count("runsRemoved"));
    }

    @Test
    void no_key_window_ends_until_the_clock_is_confirmed() {
        semel.register(flow);
        RunHandle<String> first = send();
        jump(FAR);
        assertTrue(send().replayed());
        pass(Duration.ofMinutes(59));
        assertTrue(send().replayed());
        semel.confirmClock();
        assertNull(semel.health().warning());
        RunHandle<String> second = send();
        assertFalse(second.replayed(), "the machine was right, and the window has ended");
        assertNotEquals(first.id(), second.id());
        jump(Duration.ZERO);
        Await.until("the old run is deleted", () -> !isThere(first));
    }

    @Test
    void a_jump_is_found_after_a_restart() {
        semel.register(flow);
        send();
        semel.close();
        pass(Duration.ofHours(3));
        jump(FAR);
        open();
        semel.register(flow);
        assertTrue(send().replayed());
        assertTrue(String.valueOf(semel.health().warning()).contains("jumped"));
    }

    @Test
    void a_suspended_machine_needs_no_confirmation() {
        semel.register(flow);
        send();
        pass(Duration.ofDays(3));
        assertNull(semel.health().warning());
        assertFalse(send().replayed(), "its window has ended");
    }
}
