package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.EngineLimits;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Slow but legal code of tx steps on SQLite delays other writes by one step at most and costs no lease. */
final class SlowTransactionTest extends SqliteTestBase {
    private static final int SLOW = 20;

    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    private final Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
            .body((ctx, _) -> {
                ctx.tx("rows", (_, _) -> {
                    begun.incrementAndGet();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
                    ended.incrementAndGet();
                });
                return "done";
            });

    /** All slow steps together outlive this lease several times. */
    @Override
    protected EngineLimits limits() {
        return EngineLimits.DEFAULT.withLease(Duration.ofMillis(900));
    }

    /** Starts runs at the same time, so that their writes wait together. */
    private <O> List<RunHandle<O>> startAll(Workflow<String, O> workflow, int count) {
        semel.register(workflow);
        List<CompletableFuture<RunHandle<O>>> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            started.add(CompletableFuture.supplyAsync(
                    () -> semel.start(workflow, "x"), task -> Thread.ofVirtual().start(task)));
        }
        return started.stream().map(CompletableFuture::join).toList();
    }

    @Test
    void a_trigger_and_an_effect_beside_slow_tx_steps_do_not_wait_for_all_of_them() {
        Workflow<String, Boolean> post = Workflow.define("post", String.class, Boolean.class)
                .body((ctx, _) -> ctx.effect("post").atMostOnce().call(String.class, _ -> "200")
                        instanceof EffectOutcome.Done<String>);
        semel.register(post);
        List<RunHandle<String>> all = startAll(slow, SLOW);
        Await.until("the first one runs", () -> begun.get() > 0);
        List<RunHandle<Boolean>> posts = startAll(post, 5);
        assertTrue(ended.get() < SLOW, "the triggers did not wait for all of them");
        for (RunHandle<Boolean> run : posts) {
            assertTrue(run.result(SOON), "its answer was recorded");
        }
        assertTrue(ended.get() < SLOW, "nor did the effects");
        all.forEach(run -> assertEquals("done", run.result(SOON)));
        assertEquals(SLOW, ended.get(), "no tx step was executed twice");
        assertTrue(semel.isReady());
    }

    @Test
    void a_tx_step_over_its_time_limit_fails_its_own_run_and_no_other() {
        Workflow<String, String> stuck = Workflow.define("stuck", String.class, String.class)
                .body((ctx, _) -> {
                    ctx.step("rows").retry(Retry.none()).tx((_, _) -> {
                        begun.incrementAndGet();
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_100));
                    });
                    return "done";
                });
        List<RunHandle<String>> runs = startAll(stuck, 4);
        Await.until("the first one runs", () -> begun.get() > 0);
        othersGoOn();
        for (RunHandle<String> run : runs) {
            StepFailed failed = assertThrows(StepFailed.class, () -> run.result(SOON));
            says(failed, "took longer than PT1S");
        }
        assertEquals(4, begun.get(), "each was executed once");
    }
}
