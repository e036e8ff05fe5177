package dev.semel.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.Waiting;
import dev.semel.runtime.TestRuntime;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The kit itself: time, rest, crashes, duplicates. That it can fail is in {@link CrashInjectionRunnerTest}. */
final class WorkflowTestKitTest {
    private static final Signal<String> PAID = Signal.of("paid", String.class);
    private static final Start KEY = Start.withKey("evt_1");

    private final WorkflowTestKit kit = new WorkflowTestKit();

    @AfterEach
    void close() {
        kit.close();
    }

    private static Workflow<String, String> unpaidAfterThreeDays() {
        return Workflow.define("fulfil", String.class, String.class)
                .body((ctx, in) -> ctx.await(PAID, Duration.ofDays(3)).orElse("unpaid"));
    }

    @Test
    void a_wait_of_three_days_ends_when_the_clock_has_passed_them_and_not_before() {
        Workflow<String, String> fulfil = unpaidAfterThreeDays();
        Run<String> run = kit.register(fulfil).start(fulfil, "o-1", KEY);
        kit.clock().advance(Duration.ofDays(3).minusSeconds(1));
        assertEquals(RunStatus.WAITING, run.status());
        kit.clock().advance(Duration.ofSeconds(1));
        assertEquals("unpaid", run.result(Duration.ZERO));
    }

    @Test
    void timers_on_the_way_fire_at_their_own_time() {
        Workflow<String, List<Instant>> flow = Workflow.define(
                        "naps",
                        dev.semel.workflow.TypeRef.of(String.class),
                        new dev.semel.workflow.TypeRef<List<Instant>>() {})
                .body((ctx, in) -> {
                    ctx.sleep("one", Duration.ofHours(1));
                    Instant first = ctx.now();
                    ctx.sleep("two", Duration.ofMillis(300));
                    return List.of(first, ctx.now());
                });
        Instant begun = kit.clock().now();
        Run<List<Instant>> run = kit.register(flow).start(flow, "x");
        kit.clock().advance(Duration.ofDays(1));
        assertEquals(
                List.of(
                        begun.plus(Duration.ofHours(1)),
                        begun.plus(Duration.ofHours(1)).plusMillis(300)),
                run.result(Duration.ZERO));
        assertEquals(begun.plus(Duration.ofDays(1)), kit.clock().now());
    }

    @Test
    void time_advances_automatically_until_only_a_message_can_help() {
        AtomicInteger tries = new AtomicInteger();
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.step("flaky")
                            .retry(Retry.exponential(Duration.ofMinutes(1)).upTo(3))
                            .run(String.class, _ -> {
                                if (tries.incrementAndGet() < 3) {
                                    throw new java.io.IOException("again");
                                }
                                return "ok";
                            });
                    return ctx.await(PAID);
                });
        kit.clock().autoAdvance();
        Run<String> run = kit.register(flow).start(flow, "x");
        kit.settle();
        assertEquals(3, tries.get());
        assertEquals(RunStatus.WAITING, run.status());
        assertTrue(run.signal(PAID, "now", Key.of("s1")));
        assertEquals("now", kit.result(run));
    }

    @Test
    void a_signal_is_processed_when_the_test_kit_has_settled() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.await("one", PAID) + ctx.await("two", PAID));
        Run<String> run = kit.register(flow).start(flow, "x");
        kit.settle();
        assertTrue(run.signal(PAID, "a", Key.of("1")));
        kit.settle();
        assertEquals(List.of(new Waiting.ForSignal("two", "paid", null, null)), run.waiting());
        assertTrue(run.signal(PAID, "b", Key.of("2")));
        assertEquals("ab", kit.result(run));
    }

    @Test
    void every_message_is_delivered_twice_and_counts_once() {
        FakeExternalSystem cards = kit.provider("cards");
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge").askOnDoubt("ops").call(String.class, e -> cards.call(e.key()))
                        + ctx.await("first", PAID)
                        + ctx.await("second", PAID, Duration.ofHours(1)).orElse("!"));
        Run<String> run = kit.duplicateEverything().register(flow).start(flow, "x", KEY);
        kit.settle();
        assertTrue(run.signal(PAID, "?", Key.of("s1")));
        kit.clock().advance(Duration.ofHours(1));
        assertEquals("cards-1?!", kit.result(run));
        assertEquals(1, cards.calls());
        assertEquals(1, TestRuntime.of(kit).count("replayed"));
    }

    @Test
    void a_crash_loses_what_was_not_recorded_and_nothing_else() {
        AtomicInteger before = new AtomicInteger();
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.step("before", Integer.class, _ -> before.incrementAndGet());
                    return ctx.await(PAID);
                });
        Run<String> run = kit.register(flow).start(flow, "x", KEY);
        kit.settle();
        kit.crash();
        assertTrue(run.signal(PAID, "after", Key.of("1")), "the run is reached through the engine that took over");
        assertEquals("after", kit.result(run));
        assertEquals(1, before.get());
        kit.crashAt("step-done", 1);
        Run<String> other = kit.start(flow, "y", Start.withKey("evt_2"));
        other.signal(PAID, "z", Key.of("2")); // the engine may die between its arrival and the answer
        assertEquals("z", kit.result(other));
        assertEquals(3, before.get(), "its result was not on record when the engine died");
    }

    @Test
    void a_caller_without_a_response_retries_and_gets_the_created_run() {
        Workflow<String, String> flow =
                Workflow.define("flow", String.class, String.class).body((ctx, in) -> in);
        kit.register(flow).crashAt("batch-committed", 1);
        Run<String> run = kit.start(flow, "x", KEY);
        assertTrue(run.replayed(), "the first engine had committed it and died before it could say so");
        assertEquals("x", kit.result(run));
    }

    @Test
    void two_workers_share_the_runs() {
        Workflow<Integer, Integer> child = Workflow.define("child", Integer.class, Integer.class)
                .body((ctx, n) -> {
                    ctx.sleep("nap", Duration.ofMinutes(1));
                    return n + 1;
                });
        Workflow<Integer, Integer> parent =
                Workflow.define("parent", Integer.class, Integer.class).body((ctx, n) -> ctx.call(child, n) * 10);
        kit.twoWorkers().register(child, parent).clock().autoAdvance();
        List<Run<Integer>> runs = new java.util.ArrayList<>();
        for (int i = 0; i < 8; i++) {
            runs.add(kit.start(parent, i));
        }
        for (int i = 0; i < 8; i++) {
            assertEquals((i + 1) * 10, kit.result(runs.get(i)));
        }
    }

    @Test
    void a_transaction_survives_a_crash_on_either_side_of_its_commit() {
        Workflow<String, Integer> flow = Workflow.define("flow", String.class, Integer.class)
                .body((ctx, in) -> ctx.tx("rows", Integer.class, (sql, step) -> {
                    try (var statement = sql.createStatement()) {
                        statement.execute("CREATE TABLE IF NOT EXISTS license (id TEXT)");
                        statement.execute("INSERT INTO license VALUES ('one')");
                        try (var rows = statement.executeQuery("SELECT count(*) FROM license")) {
                            rows.next();
                            return rows.getInt(1);
                        }
                    }
                }));
        kit.register(flow);
        CrashInjectionReport report = kit.crashEverywhere(l -> l.start(flow, "x", KEY))
                .check(l -> assertEquals(1, l.result(l.start(flow, "x", KEY))));
        assertEquals(report.points(), report.recovered());
        List<String> labels = report.outcomes().stream()
                .map(outcome -> String.valueOf(outcome.point()))
                .toList();
        assertTrue(labels.containsAll(List.of("tx-done 1", "tx-committed 1")), labels::toString);
    }

    @Test
    void a_run_that_cannot_settle_is_described() {
        Workflow<String, String> flow = unpaidAfterThreeDays();
        Run<String> run = kit.register(flow).start(flow, "secret", KEY);
        kit.settle();
        String text = kit.describe();
        assertTrue(text.contains(run.id() + " fulfil waiting"), text);
        assertTrue(text.contains("await paid: begun"), text);
        assertFalse(text.contains("secret"), text);
    }

    @Test
    void the_test_kit_is_configured_before_it_opens() {
        kit.semel();
        assertThrows(IllegalStateException.class, kit::twoWorkers);
    }
}
