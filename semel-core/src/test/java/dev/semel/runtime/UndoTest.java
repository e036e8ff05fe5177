package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.RequestRejected;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What was done is undone once, each by its own key, whatever happens on the way. */
final class UndoTest extends SqliteTestBase {
    private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
    private final ManualClock clock = ManualClock.startingNow();

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    @Test
    void a_failing_undo_is_recorded_and_does_not_stop_the_others() {
        StepFailed failed = failure(start(flow((ctx, _) -> {
            for (String name : List.of("a", "b", "c")) {
                ctx.compensate(
                        name,
                        c -> c.step("undo").retry(Retry.none()).run(String.class, _ -> {
                            log.add(name);
                            if (name.equals("b")) {
                                throw new IOException("cannot");
                            }
                            return "";
                        }));
            }
            throw new IllegalStateException("the reason");
        })));
        assertEquals(List.of("c", "b", "a"), List.copyOf(log));
        says(failed, "the reason");
        says(failed, "Not compensated: /undo/b/");
    }

    @Test
    void a_waiting_undo_continues_after_a_restart_with_the_same_key() {
        List<String> keys = java.util.Collections.synchronizedList(new ArrayList<>());
        AtomicInteger tries = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            for (String name : List.of("a", "b")) {
                ctx.effect(name).providerHonoursKey(Duration.ofDays(9)).call(e -> keys.add(name + " " + e.key()));
                ctx.compensate(
                        name,
                        c -> c.effect(name)
                                .retry(Retry.exponential(Duration.ofHours(1)))
                                .providerHonoursKey(Duration.ofDays(9))
                                .call(e -> {
                                    keys.add("un" + name + " " + e.key());
                                    if (name.equals("a") && tries.incrementAndGet() < 3) {
                                        throw new IOException("again");
                                    }
                                }));
            }
            return ctx.step("fails").retry(Retry.none()).run(String.class, _ -> {
                throw new RequestRejected("no");
            });
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        restart();
        semel.register(flow);
        clock.advance(Duration.ofHours(2));
        Await.until("it tried again", () -> tries.get() == 2);
        RunHandle<String> same = semel.run(flow, run.id());
        untilWaiting(same, "retry");
        clock.advance(Duration.ofHours(3));
        assertEquals("fails", failure(same).step());
        assertEquals(
                List.of("a", "b", "unb", "una", "una", "una"),
                keys.stream().map(key -> key.split(" ")[0]).toList());
        assertEquals(4, keys.stream().map(key -> key.split(" ")[1]).distinct().count(), "four effects, four keys");
    }

    @Test
    void a_branch_is_undone_after_a_restart_although_another_failed_first() {
        AtomicInteger tries = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            ctx.compensate("first", _ -> log.add("first"));
            ctx.forEach("items", List.of("bad", "b", "c"), i -> i)
                    .concurrency(1)
                    .run((c, i) -> {
                        if (i.equals("bad")) {
                            log.add("bad");
                        }
                        return i;
                    });
            ctx.forEach("lines", List.of("z", "bad", "b", "never"), i -> i)
                    .concurrency(1)
                    .run((c, i) -> {
                        c.step("do").retry(Retry.none()).run(String.class, _ -> {
                            log.add("do " + i);
                            if (i.equals("bad")) {
                                throw new IOException("no");
                            }
                            return i;
                        });
                        c.compensate(
                                "it",
                                d -> d.step("undo")
                                        .retry(Retry.exponential(Duration.ofHours(1)))
                                        .run(String.class, _ -> {
                                            if (tries.incrementAndGet() == 1) {
                                                throw new IOException("later");
                                            }
                                            log.add("undo " + i);
                                            return i;
                                        }));
                        return i;
                    });
            return "never";
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        restart();
        semel.register(flow);
        clock.advance(Duration.ofHours(2));
        failure(semel.run(flow, run.id()));
        assertEquals(
                List.of("do z", "do bad", "undo z"),
                log.stream().filter(s -> s.contains(" ")).toList());
    }

    @Test
    void every_effect_of_a_failed_concurrent_loop_is_undone_after_a_restart() {
        AtomicInteger tries = new AtomicInteger();
        List<String> items = new ArrayList<>(List.of("bad"));
        for (int i = 0; i < 20; i++) {
            items.add("i" + i);
        }
        java.util.concurrent.CountDownLatch others = new java.util.concurrent.CountDownLatch(20);
        Workflow<String, String> flow = flow((ctx, _) -> {
            ctx.forEach("lines", items, i -> i).concurrency(21).run((c, i) -> {
                c.step("do").retry(Retry.none()).run(String.class, _ -> {
                    if (i.equals("bad")) {
                        others.await();
                        throw new IOException("no");
                    }
                    log.add("do " + i);
                    others.countDown();
                    return i;
                });
                c.compensate(
                        "it",
                        d -> d.step("undo")
                                .retry(Retry.exponential(Duration.ofHours(1)))
                                .run(String.class, _ -> {
                                    if (tries.incrementAndGet() == 1) {
                                        throw new IOException("later");
                                    }
                                    log.add("undo " + i);
                                    return i;
                                }));
                return i;
            });
            return "never";
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        restart();
        semel.register(flow);
        clock.advance(Duration.ofHours(2));
        failure(semel.run(flow, run.id()));
        assertEquals(20, log.stream().filter(s -> s.startsWith("do ")).count());
        assertEquals(
                20, log.stream().filter(s -> s.startsWith("undo ")).distinct().count());
        assertEquals(20, log.stream().filter(s -> s.startsWith("undo ")).count());
    }

    @Test
    void an_undo_with_a_duplicate_name_is_rejected() {
        StepFailed twice = failure(start(flow((ctx, _) -> {
            ctx.compensate("a", _ -> log.add("first"));
            ctx.compensate("a", _ -> log.add("second"));
            return "never";
        })));
        says(twice, "used twice");
        assertEquals(List.of("first"), List.copyOf(log));
        log.clear();
        StepFailed outer = failure(start(flow((ctx, _) -> {
            ctx.compensate("a", _ -> ctx.step("outer", String.class, _ -> String.valueOf(log.add("outer"))));
            throw new IllegalStateException("no");
        })));
        says(outer, "Not compensated: /undo/a/");
        assertTrue(log.isEmpty());
    }
}
