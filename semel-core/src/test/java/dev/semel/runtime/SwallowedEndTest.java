package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Waiting;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Code that catches everything is put away all the same, and what it says afterwards counts for nothing. */
final class SwallowedEndTest extends OnAFile {
    private static final Signal<String> GO = Signal.of("go", String.class);

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private void goes(RunHandle<String> run, Workflow<String, String> flow, String result) {
        untilWaiting(run, "signal");
        Waiting.until("it was put away", () -> semel.count("parkedRuns") == 1);
        run.signal(GO, "!", Key.of("k"));
        assertEquals(result, run.result(SOON));
        Waiting.until("it has ended once", () -> semel.count("completed") == 1);
    }

    @Test
    void a_swallowed_wait_is_waited_for_and_the_result_after_it_is_ignored() {
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
    void what_is_asked_for_after_a_swallowed_wait_is_not_done() {
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
    void a_failure_made_of_the_end_fails_nothing_and_undoes_nothing() {
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
    void code_that_swallows_in_a_loop_is_left_behind() {
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
        Waiting.until("its place is free", () -> semel.runExecutor().activeRunCount() == 0);
    }

    @Test
    void a_branch_that_swallows_in_a_loop_is_left_behind() {
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
    void a_branch_that_swallows_once_does_not_hide_the_others() {
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
        Waiting.until("it was taken up and put away again", () -> semel.count("parkedRuns") == 2);
        untilWaiting(run, "sleep");
        assertTrue(run.cancel());
        assertEquals("[!, swallowed]", run.result(SOON), "a cancelled run may still say what it has");
    }

    @Test
    void clean_up_in_many_layers_is_let_through() {
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
