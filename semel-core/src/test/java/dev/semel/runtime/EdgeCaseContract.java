package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.error.RunCancelled;
import dev.semel.error.RunNotEnded;
import dev.semel.error.StepFailed;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes wrong only where two things meet, the same on both stores. */
abstract class EdgeCaseContract {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Signal<Integer> GO = Signal.of("go", Integer.class);

    private SemelRuntime semel;

    /** On the same store each time. */
    abstract SemelRuntime opened();

    @BeforeEach
    void open() {
        semel = opened();
    }

    @AfterEach
    void close() {
        semel.close();
    }

    @Test
    void branches_that_wait_for_the_same_signal_consume_one_each() {
        List<Integer> items = IntStream.range(0, 12).boxed().toList();
        Workflow<String, Integer> flow = Workflow.define("takers", String.class, Integer.class)
                .body((ctx, _) -> {
                    ctx.await("begin", GO);
                    List<Integer> taken = ctx.forEach("items", items, Object::toString)
                            .concurrency(12)
                            .run((c, _) -> c.await(GO));
                    return new TreeSet<>(taken).size();
                });
        semel.register(flow);
        for (int round = 0; round < 5; round++) {
            RunHandle<Integer> run = semel.start(flow, "x");
            items.forEach(n -> assertTrue(run.signal(GO, n, Key.of("k" + n))));
            assertTrue(run.signal(GO, 12, Key.of("the first is for the beginning")));
            assertEquals(12, run.result(SOON));
        }
    }

    @Test
    void a_caller_whose_wait_times_out_is_informed_and_the_run_continues() {
        Workflow<String, Integer> flow =
                Workflow.define("patient", String.class, Integer.class).body((ctx, _) -> ctx.await(GO));
        semel.register(flow);
        RunHandle<Integer> run = semel.start(flow, "x");
        RunNotEnded early = assertThrows(RunNotEnded.class, () -> run.result(Duration.ZERO));
        assertTrue(early.detail().contains(run.id()), early.detail());
        assertTrue(run.signal(GO, 7, Key.of("k")));
        assertEquals(7, run.result(SOON));
    }

    @Test
    void a_failure_outside_of_a_step_does_not_name_a_successful_step() {
        Workflow<String, Integer> flow = Workflow.define("fails", String.class, Integer.class)
                .body((ctx, _) -> {
                    ctx.step("fine", Integer.class, _ -> 1);
                    throw new IllegalStateException("no stock");
                });
        semel.register(flow);
        RunHandle<Integer> run = semel.start(flow, "x");
        String reported = assertThrows(StepFailed.class, () -> run.result(SOON)).detail();
        assertTrue(reported.startsWith("Run " + run.id() + " failed "), reported);
        assertFalse(reported.contains("Step \"fine\" failed"), reported);
    }

    /** As another worker does it: only the store knows, and whoever writes to it is notified. */
    private void cancelElsewhere(RunHandle<?> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        int workspace = semel.javaWorkflows().defaultWorkspace().id();
        assertTrue(semel.change(new StoreWriteCommand.CancelRun(workspace, id, "ann", "at another worker")));
    }

    @Test
    void a_cancel_seen_by_one_branch_ends_the_waiting_branches() {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Workflow<String, String> flow = Workflow.define("half_reported", String.class, String.class)
                .body((ctx, _) -> ctx.forEach("items", List.of("waits", "works"), item -> item)
                        .concurrency(2)
                        .run((c, item) -> {
                            if (item.equals("waits")) {
                                return c.await(GO);
                            }
                            c.step("work", Integer.class, _ -> {
                                working.countDown();
                                go.await();
                                return 1;
                            });
                            c.awaitDurable();
                            return c.step("never", Integer.class, _ -> 2);
                        })
                        .toString());
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        Await.until("a branch works", () -> working.getCount() == 0);
        cancelElsewhere(run);
        go.countDown();
        assertThrows(RunCancelled.class, () -> run.result(SOON));
    }

    @Test
    void a_run_cancelled_while_sending_does_not_wait_for_a_decision() {
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Workflow<String, String> flow = Workflow.define("cut_short", String.class, String.class)
                .body((ctx, _) -> ctx.effect("mail").askOnDoubt("ops").call(String.class, _ -> {
                    sending.countDown();
                    go.await();
                    throw new java.io.IOException("no answer");
                }));
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        Await.until("it is being sent", () -> sending.getCount() == 0);
        assertTrue(run.cancel());
        go.countDown();
        Await.until("it has ended", () -> run.status() == RunStatus.CANCELLED);
        assertEquals(List.of("mail"), run.stepsInDoubt());
    }

    @Test
    void a_replay_queries_the_provider_about_an_unknown_outcome_of_the_first_run() {
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger looked = new AtomicInteger();
        AtomicBoolean up = new AtomicBoolean();
        Workflow<String, Integer> flow = Workflow.define("asked_first", String.class, Integer.class)
                .body((ctx, _) -> ctx.effect("charge")
                        .retry(Retry.exponential(Duration.ofMinutes(10)).upTo(3))
                        .lookup(Integer.class, _ -> {
                            looked.incrementAndGet();
                            return null;
                        })
                        .call(_ -> {
                            int n = sent.incrementAndGet();
                            if (!up.get()) {
                                throw new java.io.IOException("no answer");
                            }
                            return n;
                        }));
        semel.register(flow);
        RunHandle<Integer> first = semel.start(flow, "x");
        Await.until("it waits for the next attempt", () -> first.status() == RunStatus.WAITING);
        assertTrue(first.cancel());
        Await.until("it has ended", () -> first.status() == RunStatus.CANCELLED);
        assertEquals(List.of("charge"), first.stepsInDoubt());
        up.set(true);
        RunHandle<Integer> replay = semel.start(flow, "x", Start.replayOf(first.id()));
        assertEquals(2, replay.result(SOON));
        assertEquals(2, looked.get(), "asked, and asked once more after a quiet moment");
        assertEquals(List.of(), first.stepsInDoubt());
        assertEquals(2, semel.start(flow, "x", Start.replayOf(first.id())).result(SOON));
        assertEquals(2, sent.get());
    }
}
