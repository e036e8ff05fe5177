package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users do wrong: the failure says what and where, nothing is half on record, and nobody else is affected. */
final class FaultyUserCodeTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    @Test
    void a_result_that_has_no_json_form_fails_the_step_and_not_again() {
        AtomicInteger times = new AtomicInteger();
        RunHandle<String> run = start(flow((ctx, _) -> {
            ctx.step("before", String.class, _ -> "fine");
            ctx.step("thread", Object.class, _ -> {
                times.incrementAndGet();
                return new Object();
            });
            return "never";
        }));
        StepFailed failed = failure(run);
        assertEquals("thread", failed.step());
        says(failed, "cannot be written as JSON");
        assertEquals(1, times.get());
    }

    @Test
    void an_effect_with_an_unrecordable_result_is_not_sent_again_after_a_restart() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            try {
                ctx.effect("big").askOnDoubt("ops").call(String.class, _ -> {
                    sent.incrementAndGet();
                    return "x".repeat(50 * 1024 * 1024);
                });
            } catch (StepFailed e) {
                return e.step() + ctx.await(GO);
            }
            return "never";
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "signal");
        restart();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        same.signal(GO, "!", Key.of("k"));
        assertEquals("big!", same.result(SOON));
        assertEquals(1, sent.get());
        assertTrue(same.stepsInDoubt().isEmpty());
    }

    @Test
    void a_result_of_50_mib_fails_the_step() {
        StepFailed failed = failure(start(flow((ctx, _) -> {
            ctx.step("big", String.class, _ -> "x".repeat(50 * 1024 * 1024));
            return "never";
        })));
        assertEquals("big", failed.step());
        assertFalse(failed.detail().contains("xxxx"));
    }

    @Test
    void an_output_of_50_mib_fails_the_run() {
        StepFailed failed = failure(start(flow((_, _) -> "x".repeat(50 * 1024 * 1024))));
        says(failed, "output");
        assertFalse(failed.detail().contains("xxxx"));
    }

    private static final class Hostile extends RuntimeException {
        @Override
        public String getMessage() {
            throw new IllegalStateException("no message for you");
        }
    }

    private static Throwable thrown(String kind) {
        return switch (kind) {
            case "stack" -> new StackOverflowError();
            case "memory" -> new OutOfMemoryError("by hand");
            case "error" -> new Error("of my own");
            case "checked" -> new IOException("checked");
            case "bare" -> new Throwable("bare");
            case "hostile" -> new Hostile();
            default -> new InterruptedException();
        };
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @ParameterizedTest
    @ValueSource(strings = {"stack", "memory", "error", "checked", "bare", "hostile", "interrupted"})
    void anything_a_step_throws_fails_that_step(String kind) {
        for (boolean limited : new boolean[] {false, true}) {
            AtomicInteger times = new AtomicInteger();
            StepFailed failed = failure(start(flow((ctx, _) -> {
                var step = ctx.step("bad")
                        .retry(Retry.exponential(Duration.ofMillis(1)).upTo(2));
                (limited ? step.timeout(Duration.ofMinutes(1)) : step).run(_ -> {
                    times.incrementAndGet();
                    FaultyUserCodeTest.<RuntimeException>sneak(thrown(kind));
                });
                return "never";
            })));
            assertEquals("bad", failed.step());
            assertEquals(2, times.get());
            String name = thrown(kind).getClass().getSimpleName();
            says(failed, name);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stack", "memory", "error", "checked", "bare", "hostile", "interrupted"})
    void anything_the_body_or_a_branch_throws_ends_the_run(String kind) {
        for (boolean branch : new boolean[] {false, true}) {
            StepFailed failed = failure(start(flow((ctx, _) -> {
                ctx.step("before", String.class, _ -> "fine");
                if (branch) {
                    ctx.forEach("items", List.of("a", "b"), i -> i, (_, _) -> {
                        FaultyUserCodeTest.<RuntimeException>sneak(thrown(kind));
                        return "";
                    });
                }
                FaultyUserCodeTest.<RuntimeException>sneak(thrown(kind));
                return "never";
            })));
            String name = thrown(kind).getClass().getSimpleName();
            says(failed, name);
        }
    }

    @Test
    void a_real_stack_overflow_is_a_failure_like_any_other() {
        StepFailed failed = failure(start(flow(
                (ctx, _) -> ctx.step("deep").retry(Retry.none()).run(String.class, _ -> String.valueOf(deeper(0))))));
        assertEquals("deep", failed.step());
        assertEquals("StackOverflowError", failed.causeType());
    }

    private static int deeper(int n) {
        return deeper(n + 1) + 1;
    }

    @Test
    void an_interrupted_thread_continues_normally() {
        Workflow<String, String> flow = flow((ctx, _) -> {
            Thread.currentThread().interrupt();
            ctx.sleep("pause", Duration.ofMillis(20));
            String seen = "";
            for (String name : List.of("one", "two")) {
                seen += ctx.step(name, Boolean.class, _ -> {
                    boolean was = Thread.currentThread().isInterrupted();
                    Thread.currentThread().interrupt();
                    return was;
                });
            }
            seen += ctx.effect("three").repeatable("a test").call(Boolean.class, _ -> {
                boolean was = Thread.currentThread().isInterrupted();
                Thread.currentThread().interrupt();
                return was;
            });
            seen += ctx.tx("four", Boolean.class, (sql, _) -> {
                boolean was = Thread.currentThread().isInterrupted();
                Thread.currentThread().interrupt();
                return was;
            });
            Thread.currentThread().interrupt();
            seen += ctx.forEach("items", List.of("a"), i -> i, (c, _) -> {
                Thread.currentThread().interrupt();
                c.sleep("s", Duration.ofMillis(20));
                return c.step("in", Boolean.class, _ -> Thread.currentThread().isInterrupted());
            });
            Thread.currentThread().interrupt();
            return seen;
        });
        assertEquals("falsefalsefalsefalse[false]", start(flow).result(SOON));
        assertTrue(semel.isReady());
    }

    @Test
    void a_type_that_no_longer_fits_the_record_holds_the_run_and_names_the_step() {
        Workflow<String, String> before =
                flow((ctx, _) -> ctx.step("count", String.class, _ -> "many") + ctx.await(GO));
        RunHandle<String> run = start(before);
        untilWaiting(run, "signal");
        AtomicInteger times = new AtomicInteger();
        Workflow<String, String> after = flow((ctx, _) -> {
            int n = ctx.step("count", Integer.class, _ -> times.incrementAndGet());
            return n + ctx.await(GO);
        });
        restart();
        semel.register(after);
        run = semel.run(after, run.id());
        run.signal(GO, "!", Key.of("k"));
        untilWaiting(run, "code");
        String why = String.valueOf(run.waitingFor());
        assertTrue(why.contains("\\\"count\\\" cannot be read as Integer"), why);
        assertFalse(why.contains("many"), why);
        assertEquals(0, times.get());
    }

    private StepFailed refused(WorkflowFunction<String, String> body) {
        return failure(start(flow(body)));
    }

    @Test
    void a_context_cannot_be_used_inside_the_code_of_a_step() {
        List<WorkflowFunction<String, String>> inside = new ArrayList<>();
        inside.add((ctx, _) -> ctx.step("in", String.class, _ -> "no"));
        inside.add((ctx, _) -> ctx.effect("in").repeatable("t").call(String.class, _ -> "no"));
        inside.add((ctx, _) -> ctx.tx("in", String.class, (_, _) -> "no"));
        inside.add((ctx, _) -> {
            ctx.sleep("in", Duration.ofDays(1));
            return "no";
        });
        inside.add((ctx, _) -> ctx.await(GO));
        inside.add(
                (ctx, _) -> ctx.forEach("in", List.of("a"), i -> i, (_, i) -> i).toString());
        inside.add((ctx, _) -> {
            ctx.compensate("in", _ -> {});
            return "no";
        });
        inside.add((ctx, _) -> ctx.now().toString());
        inside.add((ctx, _) -> {
            ctx.awaitDurable();
            return "no";
        });
        for (int i = 0; i < inside.size(); i++) {
            WorkflowFunction<String, String> one = inside.get(i);
            List<WorkflowFunction<String, String>> outer = List.of(
                    (ctx, in) -> ctx.step("out").retry(Retry.none()).run(String.class, _ -> one.run(ctx, in)),
                    (ctx, in) -> ctx.effect("out")
                            .retry(Retry.none())
                            .repeatable("t")
                            .call(String.class, _ -> one.run(ctx, in)),
                    (ctx, in) -> ctx.step("out").retry(Retry.none()).tx(String.class, (_, _) -> one.run(ctx, in)),
                    (ctx, in) -> ctx.step("out")
                            .retry(Retry.none())
                            .timeout(Duration.ofMinutes(1))
                            .run(String.class, _ -> one.run(ctx, in)));
            for (int o = 0; o < outer.size(); o++) {
                StepFailed failed = refused(outer.get(o));
                assertEquals("out", failed.step(), "use " + i + " inside " + o);
                says(failed, "It did not run");
            }
        }
    }

    @Test
    void a_context_cannot_be_used_on_another_thread_or_after_its_end() throws Exception {
        AtomicReference<Context> kept = new AtomicReference<>();
        AtomicReference<Context> branch = new AtomicReference<>();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Workflow<String, String> flow = flow((ctx, _) -> {
            kept.set(ctx);
            Thread other = Thread.ofVirtual().start(() -> {
                try {
                    ctx.step("elsewhere", String.class, _ -> "no");
                } catch (Throwable e) {
                    seen.set(e);
                }
            });
            other.join();
            ctx.forEach("items", List.of("a"), i -> i, (c, _) -> {
                branch.set(c);
                return "";
            });
            try {
                Objects.requireNonNull(branch.get()).step("late", String.class, _ -> "no");
                return "no";
            } catch (SemelException e) {
                return e.detail();
            }
        });
        String late = start(flow).result(SOON);
        assertTrue(late.contains("ended") || late.contains("on a thread other than"), late);
        assertTrue(seen.get() instanceof SemelException, String.valueOf(seen.get()));
        for (WorkflowFunction<String, String> use : List.<WorkflowFunction<String, String>>of(
                (ctx, _) -> ctx.step("late", String.class, _ -> "no"),
                (ctx, _) -> ctx.forEach("l", List.of("a"), i -> i, (_, i) -> i).toString(),
                (ctx, _) -> ctx.effect("e").repeatable("t").call(String.class, _ -> "no"))) {
            SemelException refused =
                    assertThrows(SemelException.class, () -> use.run(Objects.requireNonNull(kept.get()), ""));
            assertTrue(refused.detail().contains("It did not run"), refused.detail());
        }
    }

    @Test
    void extreme_durations_do_not_overflow() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            ctx.sleepUntil("the end of time", java.time.Instant.MAX);
            return "never";
        }));
        untilWaiting(run, "sleep");
        run.cancel();
        RunHandle<String> other = start(flow((ctx, _) -> {
            ctx.sleepUntil("the beginning", java.time.Instant.MIN);
            ctx.sleep("less than nothing", Duration.ofDays(-1));
            ctx.sleep("long", Duration.ofSeconds(Long.MAX_VALUE));
            return "never";
        }));
        untilWaiting(other, "sleep");
        other.cancel();
    }
}
