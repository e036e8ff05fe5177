package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.RunCancelled;
import dev.semel.store.Await;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two engines on one PostgreSQL: what comes to one of them reaches runs of the other. */
final class TwoEnginesTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final StoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final SemelRuntime here = open();
    private final SemelRuntime there = open();
    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final AtomicInteger heard = new AtomicInteger();

    private SemelRuntime open() {
        return SemelRuntime.open(RuntimeOptions.of(fixture.url(), version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        }));
    }

    @AfterEach
    void close() {
        mayEnd.countDown();
        here.close();
        there.close();
        fixture.close();
    }

    /** One branch works for as long as the test wants, so that the run stays in memory; the other one waits. */
    private Workflow<String, String> twoBranches() {
        return Workflow.define("branches", String.class, String.class).body((ctx, in) -> {
            ctx.forEach("branch", List.of("works", "waits"), Key::of)
                    .concurrency(2)
                    .run((branch, item) -> {
                        if (item.equals("works")) {
                            branch.step("work", String.class, _ -> {
                                began.countDown();
                                mayEnd.await();
                                return "worked";
                            });
                        } else {
                            listen(branch);
                        }
                        return item;
                    });
            return "done";
        });
    }

    private void listen(Context branch) {
        try {
            branch.await("go", GO);
            heard.incrementAndGet();
        } catch (RunCancelled e) {
            heard.addAndGet(100);
            throw e;
        }
    }

    private RunHandle<String> begun(Workflow<String, String> flow) throws InterruptedException {
        here.register(flow);
        there.register(flow);
        RunHandle<String> run = here.start(flow, "x");
        assertTrue(began.await(30, TimeUnit.SECONDS));
        return run;
    }

    @Test
    void a_signal_reaches_a_run_that_the_other_engine_has_in_memory() throws InterruptedException {
        Workflow<String, String> flow = twoBranches();
        RunHandle<String> run = begun(flow);
        there.run(flow, run.id()).signal(GO, "now", Key.of("k"));
        Await.until("it is heard while the other branch works", () -> heard.get() == 1);
        mayEnd.countDown();
        assertEquals("done", run.result(SOON));
    }

    @Test
    void a_cancellation_reaches_a_run_that_the_other_engine_has_in_memory() throws InterruptedException {
        Workflow<String, String> flow = twoBranches();
        RunHandle<String> run = begun(flow);
        there.run(flow, run.id()).cancel("ann", "changed her mind");
        Await.until("the branch that waits hears of it", () -> heard.get() == 100);
        mayEnd.countDown();
        Await.until("it ends", () -> run.status() == RunStatus.CANCELLED);
    }

    @Test
    void runs_go_to_engines_that_have_their_workflow() {
        Workflow<String, String> mine =
                Workflow.define("mine", String.class, String.class).body((ctx, in) -> "here " + in);
        Workflow<String, String> parent =
                Workflow.define("parent", String.class, String.class).body((ctx, in) -> ctx.call(mine, in));
        here.register(mine);
        there.register(mine, parent);
        assertEquals("here 1", there.start(parent, "1").result(SOON));
        RunHandle<String> elsewhere = there.start(mine, "2");
        assertEquals("here 2", here.run(mine, elsewhere.id()).result(SOON));
    }
}
