package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.RunCancelled;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs that are cancelled, and runs whose time is over: nothing new begins, and what was registered is undone. */
final class CancelTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
    private final ManualClock clock = ManualClock.startingNow();

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private String effect(Context ctx, String name) {
        ctx.effect(name).repeatable("a test").call(_ -> log.add(name));
        ctx.compensate(name, c -> c.effect("undo").repeatable("a test").call(_ -> log.add("un" + name)));
        return name;
    }

    private void cancelled(RunHandle<?> run) {
        assertTrue(run.cancel("ann", "not needed"));
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(RunStatus.CANCELLED, run.status());
        assertFalse(run.cancel());
        assertFalse(run.retryHeld());
    }

    @Test
    void a_run_that_sleeps_is_cancelled_and_undone() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            effect(ctx, "a");
            ctx.sleep("long", Duration.ofDays(1));
            return effect(ctx, "b");
        }));
        untilWaiting(run, "sleep");
        cancelled(run);
        assertEquals(List.of("a", "una"), List.copyOf(log));
    }

    @Test
    void a_run_that_waits_for_a_signal_an_approval_or_a_child_is_cancelled() {
        RunHandle<String> signal = start(flow((ctx, _) -> effect(ctx, "a") + ctx.await(GO)));
        untilWaiting(signal, "signal");
        cancelled(signal);
        RunHandle<String> approval =
                start(flow((ctx, _) -> effect(ctx, "b") + ctx.approval("ok", a -> a.to("role:x"))));
        untilWaiting(approval, "approval");
        cancelled(approval);
        Workflow<String, String> child =
                Workflow.define("child", String.class, String.class).body((ctx, _) -> ctx.await(GO));
        semel.register(child);
        RunHandle<String> parent = start(flow((ctx, in) -> effect(ctx, "c") + ctx.call(child, in)));
        Await.until("the child runs", () -> semel.count("fresh") == 4);
        cancelled(parent);
        assertEquals(List.of("a", "una", "b", "unb", "c", "unc"), List.copyOf(log));
    }

    @Test
    void a_queued_run_is_cancelled_without_running_and_the_queue_continues() {
        CountDownLatch go = new CountDownLatch(1);
        Workflow<Integer, Integer> flow = Workflow.define("serial", Integer.class, Integer.class)
                .serialBy(_ -> "one")
                .body((ctx, n) -> {
                    log.add("code " + n);
                    return ctx.step("work", Integer.class, _ -> {
                        go.await();
                        return n;
                    });
                });
        semel.register(flow);
        RunHandle<Integer> first = semel.start(flow, 1);
        RunHandle<Integer> second = semel.start(flow, 2);
        RunHandle<Integer> third = semel.start(flow, 3);
        Await.until("the first works", () -> log.contains("code 1"));
        cancelled(second);
        assertEquals(RunStatus.QUEUED, third.status());
        go.countDown();
        assertEquals(1, first.result(SOON));
        assertEquals(3, third.result(SOON));
        assertEquals(List.of("code 1", "code 3"), List.copyOf(log));
    }

    @Test
    void a_cancelled_run_in_doubt_keeps_its_effect_in_doubt() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            effect(ctx, "a");
            return ctx.effect("mail").askOnDoubt("ops").call(String.class, _ -> {
                throw new IOException("no answer");
            });
        }));
        untilWaiting(run, "decision");
        assertTrue(run.cancel());
        Await.until("it has ended", () -> run.status() == RunStatus.CANCELLED);
        assertEquals(List.of("a", "una"), List.copyOf(log));
        assertEquals(List.of("mail"), run.stepsInDoubt());
    }

    @Test
    void an_effect_in_flight_when_its_worker_died_is_in_doubt_after_a_cancel() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            effect(ctx, "a");
            ctx.effect("charge")
                    .retry(Retry.exponential(Duration.ofHours(1)))
                    .providerHonoursKey(Duration.ofDays(1))
                    .call(_ -> {
                        sent.incrementAndGet();
                        throw new IOException("no answer");
                    });
            return "never";
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        semel.close();
        sql("UPDATE semel_effect SET state = 1 WHERE path = 'charge'"); // as if nothing had been written about it
        open();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        cancelled(same);
        assertEquals(1, sent.get());
        assertEquals(List.of(), same.stepsInDoubt());
        clock.advance(Duration.ofDays(1));
        assertEquals(List.of("charge"), same.stepsInDoubt());
    }

    /** The run has more done effects than a page of the ledger, all older than the open one. */
    @Test
    void an_open_effect_behind_10_000_done_ones_is_in_doubt_after_a_cancel() {
        Workflow<String, String> flow = flow((ctx, _) -> {
            effect(ctx, "a");
            ctx.effect("charge")
                    .retry(Retry.exponential(Duration.ofHours(1)))
                    .providerHonoursKey(Duration.ofDays(1))
                    .call(_ -> {
                        throw new IOException("no answer");
                    });
            return "never";
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        semel.close();
        sql("UPDATE semel_effect SET state = 1 WHERE path = 'charge'");
        sql("""
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050)
            INSERT INTO semel_effect SELECT e.ws, e.digest || ' ' || n.i, e.step || ' ' || n.i, e.run, e.claim,
                e.reservation, e.state, e.generation, e.attempt, e.first_at - 1, e.accepted_at, e.window_micros,
                e.expires_at, e.data, e.result, e.key, e.path, e.workflow_id, e.protection, e.action, e.object, e.worth,
                e.sent_key, e.sent_at, e.content
            FROM semel_effect e, n WHERE e.path = 'a'
            """);
        open();
        semel.register(flow);
        cancelled(semel.run(flow, run.id()));
        clock.advance(Duration.ofDays(1));
        assertEquals(List.of("charge"), semel.run(flow, run.id()).stepsInDoubt());
    }

    @Test
    void an_effect_that_was_certainly_not_sent_is_not_in_doubt_after_a_cancel() {
        RunHandle<String> run = start(flow((ctx, _) -> ctx.effect("charge")
                .retry(Retry.exponential(Duration.ofHours(1)))
                .askOnDoubt("ops")
                .call(String.class, _ -> {
                    throw new java.net.ConnectException("refused");
                })));
        untilWaiting(run, "retry");
        cancelled(run);
        assertEquals(List.of(), run.stepsInDoubt());
    }

    @Test
    void a_long_step_ends_and_the_next_does_not_start() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        RunHandle<String> run = start(flow((ctx, _) -> {
            effect(ctx, "a");
            ctx.step("long", Integer.class, _ -> {
                inside.countDown();
                go.await();
                return 1;
            });
            return effect(ctx, "b");
        }));
        inside.await();
        assertTrue(run.cancel());
        assertTrue(run.cancel(), "it has not ended yet, so it may be asked for twice");
        go.countDown();
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(List.of("a", "una"), List.copyOf(log));
    }

    @Test
    void a_cancelled_run_stops_waiting_between_attempts() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            effect(ctx, "a");
            return ctx.step("flaky")
                    .retry(Retry.exponential(Duration.ofHours(1)))
                    .run(String.class, _ -> {
                        throw new IOException("again");
                    });
        }));
        untilWaiting(run, "retry");
        cancelled(run);
    }

    @Test
    void user_code_may_wrap_the_cancellation_exception() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            try {
                return ctx.await(GO);
            } catch (Exception e) {
                throw new IllegalStateException("wrapped", e);
            }
        }));
        untilWaiting(run, "signal");
        cancelled(run);
    }

    private Workflow<String, String> limited(dev.semel.workflow.WorkflowFunction<String, String> body) {
        return Workflow.define("limited", String.class, String.class)
                .deadline(Duration.ofHours(1))
                .body(body);
    }

    private void late(RunHandle<String> run) {
        StepFailed failed = assertThrows(StepFailed.class, () -> run.result(SOON));
        assertEquals("run-timed-out", failed.causeType());
        assertEquals(RunStatus.FAILED, run.status());
    }

    @Test
    void the_deadline_ends_a_sleep_a_wait_and_a_retry_and_undoes() {
        RunHandle<String> sleeping = start(limited((ctx, _) -> {
            effect(ctx, "a");
            ctx.sleep("long", Duration.ofDays(1));
            return effect(ctx, "b");
        }));
        untilWaiting(sleeping, "sleep");
        Workflow<String, String> waits = Workflow.define("waits", String.class, String.class)
                .deadline(Duration.ofHours(1))
                .body((ctx, _) -> effect(ctx, "c") + ctx.await(GO, Duration.ofDays(1)));
        RunHandle<String> waiting = start(waits);
        untilWaiting(waiting, "signal");
        Workflow<String, String> tries = Workflow.define("tries", String.class, String.class)
                .deadline(Duration.ofHours(1))
                .body((ctx, _) -> ctx.step("flaky")
                        .retry(Retry.exponential(Duration.ofHours(3)))
                        .run(String.class, _ -> {
                            throw new IOException("again");
                        }));
        RunHandle<String> trying = start(tries);
        untilWaiting(trying, "retry");
        clock.advance(Duration.ofMinutes(59));
        assertEquals(RunStatus.WAITING, sleeping.status());
        clock.advance(Duration.ofMinutes(2));
        late(sleeping);
        late(waiting);
        late(trying);
        assertEquals(
                List.of("a", "c"), log.stream().filter(s -> !s.startsWith("un")).toList());
        assertTrue(log.containsAll(List.of("una", "unc")));
    }

    @Test
    void the_deadline_between_two_steps_prevents_the_next_step() {
        RunHandle<String> run = start(limited((ctx, _) -> {
            effect(ctx, "a");
            ctx.step("time passes", Integer.class, _ -> {
                clock.advance(Duration.ofHours(2));
                return 1;
            });
            return effect(ctx, "b");
        }));
        late(run);
        assertEquals(List.of("a", "una"), List.copyOf(log));
    }

    @Test
    void an_undo_still_has_time_after_the_deadline() {
        AtomicInteger tries = new AtomicInteger();
        RunHandle<String> run = start(limited((ctx, _) -> {
            ctx.compensate("all", c -> {
                c.sleep("rest", Duration.ofHours(5));
                c.step("undo").retry(Retry.exponential(Duration.ofHours(5))).run(String.class, _ -> {
                    if (tries.incrementAndGet() < 3) {
                        throw new IOException("again");
                    }
                    return "ok";
                });
            });
            return ctx.await(GO);
        }));
        untilWaiting(run, "signal");
        clock.advance(Duration.ofHours(2));
        untilWaiting(run, "sleep");
        clock.advance(Duration.ofHours(6));
        untilWaiting(run, "retry");
        clock.advance(Duration.ofHours(6));
        Await.until("it has tried twice", () -> tries.get() == 2);
        untilWaiting(run, "retry");
        clock.advance(Duration.ofHours(11));
        late(run);
        assertEquals(3, tries.get());
    }

    @Test
    void an_undo_that_waits_after_a_cancel_suspends_and_does_not_spin() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            ctx.compensate("all", c -> c.sleep("rest", Duration.ofHours(5)));
            return ctx.await(GO);
        }));
        untilWaiting(run, "signal");
        assertTrue(run.cancel());
        untilWaiting(run, "sleep");
        othersGoOn();
        long before = semel.count("parkedRuns");
        othersGoOn();
        othersGoOn();
        assertEquals(before, semel.count("parkedRuns"), "it was taken up although nothing was due");
        clock.advance(Duration.ofHours(6));
        assertThrows(RunCancelled.class, () -> run.result(SOON));
    }

    @Test
    void an_attempt_that_takes_too_long_is_interrupted_and_its_outcome_is_unknown() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(2);
        RunHandle<String> run = start(flow((ctx, _) -> {
            String step;
            try {
                step = ctx.step("slow")
                        .timeout(Duration.ofMillis(50))
                        .retry(Retry.none())
                        .run(String.class, _ -> {
                            hang(interrupted);
                            return "never";
                        });
            } catch (StepFailed e) {
                step = e.step();
            }
            EffectOutcome<String> sms = ctx.effect("sms")
                    .timeout(Duration.ofMillis(50))
                    .atMostOnce()
                    .call(String.class, _ -> {
                        hang(interrupted);
                        return "never";
                    });
            return step + (sms instanceof EffectOutcome.Indeterminate<String>);
        }));
        assertEquals("slowtrue", run.result(SOON));
        interrupted.await();
    }

    private static void hang(CountDownLatch interrupted) throws InterruptedException {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
        }
    }
}
