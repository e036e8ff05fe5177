package dev.semel.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.error.RunCancelled;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SqliteTestBase;
import dev.semel.store.Await;
import dev.semel.store.CrashCount;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that brings its worker down is held in the end, and takes nobody with it. */
final class PoisonedRunTest extends SqliteTestBase {
    /** Three crashes make it a suspect, which is then tried alone. */
    private static final int MOST = CrashCount.BEFORE_TRIAL + 1 + EngineLimits.DEFAULT.maxCrashesAlone();

    private static final Signal<String> GO = Signal.of("go", String.class);

    private volatile CountDownLatch halted = new CountDownLatch(1);
    private final AtomicBoolean harmless = new AtomicBoolean();
    private final AtomicInteger undone = new AtomicInteger();

    /** As a process does that halts here: nothing more is written, and nobody gives the run back. */
    private String halt() {
        if (harmless.get()) {
            return "harmless";
        }
        halted.countDown();
        throw new RunExecutionAbort.OwnershipLost();
    }

    private Workflow<String, String> poison(boolean effect) {
        return Workflow.define("poison", String.class, String.class).body((ctx, _) -> {
            ctx.effect("first").repeatable("a test").call(_ -> {});
            ctx.compensate("first", c -> c.step("undo", Integer.class, _ -> undone.incrementAndGet()));
            ctx.awaitDurable();
            return effect
                    ? ctx.effect("halt").providerHonoursKey(Duration.ofDays(1)).call(String.class, _ -> halt())
                    : ctx.step("halt", String.class, _ -> halt());
        });
    }

    private void diesOnce(Workflow<?, ?>... registered) throws InterruptedException {
        halted.await();
        halted = new CountDownLatch(1);
        die("poison");
        semel.register(registered);
    }

    private RunHandle<String> held(boolean effect) throws InterruptedException {
        Workflow<String, String> poison = poison(effect);
        RunHandle<String> run = start(poison);
        for (int i = 0; i < MOST; i++) {
            diesOnce(poison);
        }
        run = semel.run(poison, run.id());
        untilWaiting(run, "poison");
        othersGoOn();
        return run;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_run_whose_worker_crashed_too_often_is_held_until_a_user_continues_it(boolean effect) throws Exception {
        RunHandle<String> run = held(effect);
        assertTrue(String.valueOf(run.waitingFor()).contains("crashed " + MOST + " times"), run.waitingFor());
        harmless.set(true);
        // Whatever wakes it, it stays held.
        run.signal(GO, "", Key.of("k"));
        Await.until("it was looked at again", () -> semel.count("held") >= 2);
        untilWaiting(run, "poison");
        restart();
        Workflow<String, String> poison = poison(effect);
        semel.register(poison);
        run = semel.run(poison, run.id());
        untilWaiting(run, "poison");
        assertTrue(run.retryHeld("ann", "the library was replaced"));
        assertEquals("harmless", run.result(SOON));
        assertFalse(run.retryHeld());
    }

    @Test
    void a_continued_run_that_crashes_again_is_held_again() throws Exception {
        RunHandle<String> run = held(false);
        assertTrue(run.retryHeld());
        for (int i = 0; i < MOST; i++) {
            diesOnce(poison(false));
        }
        untilWaiting(semel.run(poison(false), run.id()), "poison");
    }

    @Test
    void a_poisoned_run_is_cancelled_and_undone() throws Exception {
        RunHandle<String> run = held(false);
        assertTrue(run.cancel());
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(1, undone.get());
    }

    @Test
    void a_run_that_crashes_workers_even_while_undone_is_given_up() throws Exception {
        Workflow<String, String> killer =
                Workflow.define("poison", String.class, String.class).body((_, _) -> halt());
        RunHandle<String> run = start(killer);
        for (int i = 0; i < MOST; i++) {
            diesOnce(killer);
        }
        RunHandle<String> same = semel.run(killer, run.id());
        untilWaiting(same, "poison");
        assertTrue(same.cancel());
        diesOnce(killer);
        RunHandle<String> last = semel.run(killer, run.id());
        assertThrows(RunCancelled.class, () -> last.result(SOON));
    }

    @Test
    void other_runs_of_the_worker_are_not_affected() throws Exception {
        Workflow<String, String> poison = poison(false);
        AtomicBoolean first = new AtomicBoolean(true);
        Workflow<String, String> innocent = Workflow.define("innocent", String.class, String.class)
                .body((ctx, in) -> ctx.step("slow", String.class, _ -> {
                    // Together with others it is still at work when the process dies; alone it comes to its end.
                    if (first.get() || residents() > 1) {
                        halted.await();
                        if (!harmless.get()) {
                            throw new RunExecutionAbort.OwnershipLost();
                        }
                    }
                    return in;
                }));
        semel.register(innocent);
        List<RunHandle<String>> innocents = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            innocents.add(semel.start(innocent, "i" + i));
        }
        RunHandle<String> bad = start(poison);
        // It may be tried in a group first. Then the worker dies more often until it was twice the only one on trial.
        int deaths = 0;
        while (!isHeld(poison, bad)) {
            assertTrue(deaths++ < 4 * MOST, "it is held after a few crashes");
            first.set(false);
            diesOnce(innocent, poison);
        }
        untilWaiting(semel.run(poison, bad.id()), "poison");
        harmless.set(true);
        halted.countDown();
        for (int i = 0; i < 5; i++) {
            assertEquals("i" + i, semel.run(innocent, innocents.get(i).id()).result(SOON));
        }
    }

    /** Waits until it halts or is held. */
    private boolean isHeld(Workflow<String, String> poison, RunHandle<String> run) {
        Await.until(
                "it halts or is held",
                () -> halted.getCount() == 0 || semel.run(poison, run.id()).status() == RunStatus.HELD);
        return semel.run(poison, run.id()).status() == RunStatus.HELD;
    }
}
