package dev.semel.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.runtime.ManualClock;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.Await;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A run becomes due again between the commit of its rest and the end of its thread. */
final class ReclaimedRunTest {
    private static final Signal<String> PAID = Signal.of("paid", String.class);
    private static final int MOST_RUNS = 100;

    private final AtomicReference<@Nullable RunHandle<String>> current = new AtomicReference<>();
    /** Holds a run until the hook knows of it. */
    private final Semaphore gate = new Semaphore(0);

    private final AtomicBoolean claimedAgain = new AtomicBoolean();

    /**
     * Signals and claims go through lane 0. So a rest that was committed on lane 1 can be held there, before its run is
     * reported, until somebody has claimed the run.
     */
    private final ClockAndRandomSource ambient = ManualClock.startingNow()
            .ambient()
            .withInstrumentation(new ClockAndRandomSource.TestInstrumentation() {
                @Override
                public void point(String label) {
                    RunHandle<String> run = current.get();
                    if (run != null
                            && label.equals("batch-committed")
                            && Thread.currentThread().getName().equals("semel-lane-1")
                            && run.status() == RunStatus.WAITING
                            && claimedAgain.compareAndSet(false, true)) {
                        run.signal(PAID, "p", Key.of("s1"));
                        Await.until("it is claimed", () -> run.status() != RunStatus.WAITING);
                    }
                }
            });

    @Test
    void a_run_claimed_while_its_last_execution_is_leaving_runs_immediately() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.step("gate", _ -> gate.acquire());
                    return ctx.await(PAID);
                });
        try (StoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
                SemelRuntime semel = SemelRuntime.openForTest(fixture.store(), settings(fixture), List.of(flow))) {
            for (int i = 0; i < MOST_RUNS && !claimedAgain.get(); i++) {
                RunHandle<String> run = semel.start(flow, "x", Start.withKey("k" + i));
                current.set(run);
                gate.release();
                Await.until("it rests", () -> claimedAgain.get() || run.status() == RunStatus.WAITING);
                run.signal(PAID, "p", Key.of("s1"));
                // Runs that nobody drives are looked for every half minute; that would be too late.
                assertEquals("p", run.result(Duration.ofSeconds(15)));
            }
            assertTrue(claimedAgain.get(), "of so many runs one rests on lane 1");
        }
    }

    private RuntimeOptions settings(StoreFixture fixture) {
        return RuntimeOptions.of(fixture.url(), _ -> {
                    throw new IllegalStateException("no files");
                })
                .withClock(ambient, () -> 0);
    }
}
