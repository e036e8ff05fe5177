package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Await;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Code that catches everything is put away all the same, and what it says afterwards counts for nothing. */
final class SwallowedAbortTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private void goes(RunHandle<String> run, Workflow<String, String> flow, String result) {
        untilWaiting(run, "signal");
        Await.until("it was put away", () -> semel.count("parkedRuns") == 1);
        run.signal(GO, "!", Key.of("k"));
        assertEquals(result, run.result(SOON));
        Await.until("it has ended once", () -> semel.count("completed") == 1);
    }

    @Test
    void a_swallowed_wait_is_still_awaited_and_the_later_result_is_ignored() {
        AtomicInteger swallowed = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            try {
                return "got " + ctx.await(GO);
            } catch (Throwable e) {
                swallowed.incrementAndGet();
                return "swallowed";
            }
        });
        goes(start(flow), flow, "got !");
        assertEquals(1, swallowed.get());
    }

    @Test
    void steps_after_a_swallowed_wait_do_not_run() {
        AtomicInteger done = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            String got = "nothing";
            try {
                got = ctx.await(GO);
            } catch (Throwable e) {
                got = "swallowed";
            }
            return got + ctx.effect("after").repeatable("a test").call(Integer.class, _ -> done.incrementAndGet());
        });
        goes(start(flow), flow, "!1");
        assertEquals(1, done.get());
    }

    @Test
    void a_failure_that_wraps_the_abort_fails_nothing_and_undoes_nothing() {
        AtomicInteger undone = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            ctx.compensate("all", c -> c.step("undo", Integer.class, _ -> undone.incrementAndGet()));
            try {
                return ctx.await(GO);
            } catch (Throwable e) {
                throw new IllegalStateException("wrapped", e);
            }
        });
        goes(start(flow), flow, "!");
        assertEquals(0, undone.get());
    }

    @Test
    void code_that_swallows_the_abort_in_a_loop_is_abandoned() {
        AtomicInteger rounds = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            while (true) {
                try {
                    return ctx.await(GO);
                } catch (Throwable e) {
                    rounds.incrementAndGet();
                }
            }
        });
        goes(start(flow), flow, "!");
        assertTrue(rounds.get() < 20, "it went round " + rounds.get() + " times");
        Await.until("its place is free", () -> semel.runExecutor().activeRunCount() == 0);
    }

    @Test
    void a_branch_that_swallows_the_abort_in_a_loop_is_abandoned() {
        AtomicInteger rounds = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> ctx.forEach("items", List.of("a", "b", "c"), i -> i)
                .concurrency(3)
                .run((c, i) -> {
                    while (true) {
                        try {
                            return i.equals("b") ? c.await(GO) : c.step("s", String.class, _ -> i);
                        } catch (Throwable e) {
                            rounds.incrementAndGet();
                        }
                    }
                })
                .toString());
        goes(start(flow), flow, "[a, !, c]");
        assertTrue(rounds.get() < 20, "it went round " + rounds.get() + " times");
    }

    @Test
    void a_branch_that_swallows_the_abort_once_does_not_hide_the_others() {
        Workflow<String, String> flow = flow((ctx, _) -> ctx.forEach("items", List.of("a", "b"), i -> i)
                .concurrency(2)
                .run((c, i) -> {
                    try {
                        if (i.equals("a")) {
                            return c.await(GO);
                        }
                        c.sleep("long", Duration.ofDays(3000));
                    } catch (Throwable e) {
                        return "swallowed";
                    }
                    return "never";
                })
                .toString());
        RunHandle<String> run = start(flow);
        untilWaiting(run, "sleep");
        run.signal(GO, "!", Key.of("k"));
        Await.until("it was taken up and put away again", () -> semel.count("parkedRuns") == 2);
        untilWaiting(run, "sleep");
        assertTrue(run.cancel());
        assertEquals("[!, swallowed]", run.result(SOON), "a cancelled run may still say what it has");
    }

    @Test
    void nested_finally_blocks_still_run() {
        AtomicInteger closed = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            try {
                try {
                    try {
                        return ctx.await(GO);
                    } finally {
                        ctx.step("one", Integer.class, _ -> 1);
                    }
                } finally {
                    ctx.step("two", Integer.class, _ -> 2);
                }
            } finally {
                closed.incrementAndGet();
            }
        });
        goes(start(flow), flow, "!");
        assertEquals(2, closed.get());
    }
}
