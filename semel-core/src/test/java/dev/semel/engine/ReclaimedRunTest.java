package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.SemelOptions;
import dev.semel.run.RunState;
import dev.semel.store.Await;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.testing.ManualClock;
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

    private final AtomicReference<@Nullable Run<String>> current = new AtomicReference<>();
    /** Holds a run until the hook knows of it. */
    private final Semaphore gate = new Semaphore(0);

    private final AtomicBoolean claimedAgain = new AtomicBoolean();

    /**
     * Signals and claims go through lane 0. So a rest that was committed on lane 1 can be held there, before its run is
     * told, until somebody has claimed the run.
     */
    private final EngineEnvironment ambient = ManualClock.startingNow()
            .ambient()
            .withInstrumentation(new EngineEnvironment.TestInstrumentation() {
                @Override
                public void point(String label) {
                    Run<String> run = current.get();
                    if (run != null
                            && label.equals("batch-committed")
                            && Thread.currentThread().getName().equals("semel-lane-1")
                            && run.status() == RunState.WAITING
                            && claimedAgain.compareAndSet(false, true)) {
                        run.signal(PAID, "p", Key.of("s1"));
                        Await.until("it is claimed", () -> run.status() != RunState.WAITING);
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
        try (StoreFixture place = PostgresStoreFixture.withItsOwnClock();
                Semel semel = Semel.openForTest(place.store(), settings(place), List.of(flow))) {
            for (int i = 0; i < MOST_RUNS && !claimedAgain.get(); i++) {
                Run<String> run = semel.start(flow, "x", Start.withKey("k" + i));
                current.set(run);
                gate.release();
                Await.until("it rests", () -> claimedAgain.get() || run.status() == RunState.WAITING);
                run.signal(PAID, "p", Key.of("s1"));
                // Runs that nobody drives are looked for every half minute; that would be too late.
                assertEquals("p", run.result(Duration.ofSeconds(15)));
            }
            assertTrue(claimedAgain.get(), "of so many runs one rests on lane 1");
        }
    }

    private SemelOptions settings(StoreFixture place) {
        return SemelOptions.of(place.url(), _ -> {
                    throw new IllegalStateException("no files");
                })
                .withClock(ambient, () -> 0);
    }
}
