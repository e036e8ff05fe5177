package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.IdempotentCall;
import dev.semel.RunStatus;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.KeyConflict;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The Java API from end to end, the same on both stores. */
abstract class WorkflowApiContract {
    private static final Duration SOON = Duration.ofSeconds(20);

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

    private void restart() {
        semel.close();
        open();
    }

    record Order(String id, List<String> lines) {}

    @Test
    void steps_effects_and_values_make_a_result_and_a_repeat_runs_once() {
        AtomicInteger charged = new AtomicInteger();
        Workflow<Order, String> pay = Workflow.define("pay", Order.class, String.class)
                .keyedBy(Order::id)
                .body((ctx, order) -> {
                    int lines =
                            ctx.step("count", Integer.class, _ -> order.lines().size());
                    String charge = ctx.effect("charge")
                            .key("charge", order.id())
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(
                                    String.class,
                                    e -> "ch_" + charged.incrementAndGet()
                                            + e.key().substring(0, 0));
                    return charge + " for " + lines + " at " + (ctx.now().getEpochSecond() > 0)
                            + ctx.uuid().version();
                });
        semel.register(pay);
        Order order = new Order("o-1", List.of("a", "b"));
        RunHandle<String> first = semel.start(pay, order);
        assertEquals("ch_1 for 2 at true4", first.result(SOON));
        RunHandle<String> second = semel.start(pay, order);
        assertTrue(second.replayed());
        assertEquals(first.id(), second.id());
        assertEquals("ch_1 for 2 at true4", second.result(SOON));
        assertEquals(1, charged.get());
    }

    @Test
    void a_safe_replay_reuses_recorded_effects_and_keeps_the_keys() {
        Set<String> keys = ConcurrentHashMap.newKeySet();
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger works = new AtomicInteger();
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> {
                    String one = ctx.effect("one")
                            .providerHonoursKey(Duration.ofHours(1))
                            .call(String.class, e -> {
                                keys.add("1" + e.key());
                                return "one" + sent.incrementAndGet();
                            });
                    return one
                            + ctx.effect("two")
                                    .retry(Retry.none())
                                    .askOnDoubt("ops")
                                    .call(String.class, e -> {
                                        keys.add("2" + e.key());
                                        if (works.getAndIncrement() == 0) {
                                            throw new dev.semel.error.RequestRejected("no");
                                        }
                                        return "two";
                                    });
                });
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        assertThrows(StepFailed.class, () -> run.result(SOON));
        RunHandle<String> again = semel.start(flow, "x", Start.replayOf(run.id()));
        assertFalse(again.replayed());
        assertEquals("one1two", again.result(SOON));
        assertEquals(1, sent.get());
        assertEquals(2, keys.size(), "each effect had one key in both runs");
    }

    static final Signal<String> PAID = Signal.of("paid", String.class);

    @Test
    void a_waiting_run_is_suspended_and_a_signal_wakes_it_after_a_restart() {
        Workflow<String, String> flow = Workflow.define("wait", String.class, String.class)
                .body((ctx, in) -> in + ctx.step("before", String.class, _ -> "!") + ctx.await(PAID));
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        Await.until("it waits", () -> run.status() == RunStatus.WAITING);
        restart();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        assertTrue(same.signal(PAID, "yes", Key.of("s1")));
        assertFalse(same.signal(PAID, "no", Key.of("s1")));
        assertEquals("x!yes", same.result(SOON));
    }

    @Test
    void sleeping_retrying_approving_and_branching() {
        AtomicInteger tries = new AtomicInteger();
        Workflow<Order, String> flow = Workflow.define("many", Order.class, String.class)
                .body((ctx, order) -> {
                    ctx.sleep("a moment", Duration.ofMillis(30));
                    String flaky = ctx.step("flaky")
                            .retry(Retry.exponential(Duration.ofMillis(10)).upTo(4))
                            .run(String.class, _ -> {
                                if (tries.incrementAndGet() < 3) {
                                    throw new java.io.IOException("again");
                                }
                                return "ok";
                            });
                    List<String> lines = ctx.forEach("lines", order.lines(), line -> line)
                            .concurrency(3)
                            .run((c, line) -> {
                                c.sleep("pause", Duration.ofMillis(20));
                                return c.effect("pick")
                                        .repeatable("a test")
                                        .call(String.class, e -> line + e.attempt());
                            });
                    ApprovalDecision decision =
                            ctx.approval("release", a -> a.title("t").to("role:ops"));
                    return flaky
                            + lines
                            + switch (decision) {
                                case ApprovalDecision.Approved a -> "by " + a.by();
                                case ApprovalDecision.Rejected r -> "not " + r.note();
                                case ApprovalDecision.TimedOut _ -> "nobody";
                            };
                });
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, new Order("o", List.of("a", "b", "c", "d", "e")));
        Await.until(
                "it asks",
                () -> run.status() == RunStatus.WAITING
                        && String.valueOf(run.waitingFor()).contains("approval"));
        assertTrue(run.approve("release", "ann", "fine"));
        assertFalse(run.reject("release", "bob", "late"));
        assertEquals("ok[a1, b1, c1, d1, e1]by ann", run.result(SOON));
        assertEquals(3, tries.get());
    }

    @Test
    void a_run_with_an_unknown_outcome_is_held_until_a_user_decides() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, String> flow = Workflow.define("ask", String.class, String.class)
                .body((ctx, in) -> ctx.effect("mail").askOnDoubt("ops").call(String.class, e -> {
                    if (sent.incrementAndGet() == 1) {
                        throw new java.net.SocketTimeoutException("no answer");
                    }
                    return "sent " + sent.get();
                }));
        semel.register(flow);
        RunHandle<String> happened = semel.start(flow, "x");
        assertThrows(EffectInDoubt.class, () -> happened.result(SOON));
        assertEquals(RunStatus.IN_DOUBT, happened.status());
        assertEquals(List.of("mail"), happened.stepsInDoubt());
        assertTrue(happened.confirmDone("mail", "it did", "ann"));
        assertFalse(happened.confirmDone("mail", "twice", "bob"));
        assertEquals("it did", happened.result(SOON));
        assertEquals(1, sent.get());
        sent.set(0);
        RunHandle<String> not = semel.start(flow, "y");
        assertThrows(EffectInDoubt.class, () -> not.result(SOON));
        assertTrue(not.confirmNotDone("mail", "ann"));
        Await.until("it ends", () -> not.status() == RunStatus.COMPLETED);
        assertEquals("sent 2", not.result(SOON));
    }

    @Test
    void at_most_once_reports_an_unknown_outcome_to_the_workflow() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, String> flow = Workflow.define("amo", String.class, String.class)
                .body((ctx, in) -> switch (ctx.effect("sms").atMostOnce().call(String.class, e -> {
                    sent.incrementAndGet();
                    throw new java.net.SocketTimeoutException();
                })) {
                    case EffectOutcome.Done<String> done -> done.value();
                    case EffectOutcome.Indeterminate<String> _ -> "nobody knows";
                });
        semel.register(flow);
        assertEquals("nobody knows", semel.start(flow, "x").result(SOON));
        assertEquals(1, sent.get());
    }

    @Test
    void completed_steps_are_undone_in_reverse_when_the_run_fails() {
        StringBuffer log = new StringBuffer();
        Workflow<String, String> flow = Workflow.define("saga", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.effect("a").repeatable("a test").call(e -> log.append("+a"));
                    ctx.compensate(
                            "a", c -> c.effect("undo").repeatable("a test").call(e -> log.append("-a")));
                    ctx.effect("b").repeatable("a test").call(e -> log.append("+b"));
                    ctx.compensate(
                            "b", c -> c.effect("undo").repeatable("a test").call(e -> log.append("-b")));
                    throw new IllegalStateException("no");
                });
        semel.register(flow);
        assertThrows(StepFailed.class, () -> semel.start(flow, "x").result(SOON));
        assertEquals("+a+b-b-a", log.toString());
    }

    @Test
    void a_child_is_started_once_and_its_output_comes_back() {
        Workflow<String, String> child = Workflow.define("child", String.class, String.class)
                .body((ctx, in) -> "<" + in + ctx.await(PAID) + ">");
        Workflow<String, String> parent = Workflow.define("parent", String.class, String.class)
                .body((ctx, in) -> ctx.call(child, in, Start.withKey("c", in)));
        semel.register(child, parent);
        RunHandle<String> run = semel.start(parent, "x");
        RunHandle<String> started = semel.start(child, "x", Start.withKey("c", "x"));
        started.signal(PAID, "1", Key.of("k"));
        assertEquals("<x1>", run.result(SOON));
        assertEquals("<x1>", started.result(SOON));
    }

    @Test
    void twenty_runs_with_one_key_send_once() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<Integer, String> flow = Workflow.define("notify", Integer.class, String.class)
                .body((ctx, n) -> ctx.effect("mail")
                        .key("welcome", "ann")
                        .oncePer(Duration.ofDays(1))
                        .askOnDoubt("ops")
                        .call(String.class, e -> "mail " + sent.incrementAndGet()));
        semel.register(flow);
        List<RunHandle<String>> runs = new java.util.ArrayList<>();
        for (int i = 0; i < 20; i++) {
            runs.add(semel.start(flow, i));
        }
        runs.forEach(run -> assertEquals("mail 1", run.result(SOON)));
        assertEquals(1, sent.get());
        assertEquals(19, semel.count("suppressed"));
    }

    @Test
    void three_steps_wait_for_the_disk_twice_and_three_effects_five_times() {
        Workflow<String, String> steps = Workflow.define("three_steps", String.class, String.class)
                .body((ctx, in) -> ctx.step("a", String.class, _ -> "a")
                        + ctx.step("b", String.class, _ -> "b")
                        + ctx.step("c", String.class, _ -> "c"));
        Workflow<String, String> effects = Workflow.define("three_effects", String.class, String.class)
                .body((ctx, in) -> ctx.effect("a").repeatable("a test").call(String.class, _ -> "a")
                        + ctx.effect("b").repeatable("a test").call(String.class, _ -> "b")
                        + ctx.effect("c").repeatable("a test").call(String.class, _ -> "c"));
        semel.register(steps, effects);
        long before = semel.count("diskWaits");
        assertEquals("abc", semel.start(steps, "x").result(SOON));
        assertEquals(2, semel.count("diskWaits") - before, "the admission and the end");
        before = semel.count("diskWaits");
        assertEquals("abc", semel.start(effects, "x").result(SOON));
        assertEquals(5, semel.count("diskWaits") - before, "the admission, three intents, the end");
    }

    private int once(String operation, String key, String request, Callable<Integer> code) {
        IdempotentCall call = semel.idempotent(operation).caller("ann").key(key).request(request);
        return Objects.requireNonNull(call.call(Integer.class, code).value());
    }

    @Test
    void any_operation_runs_once_for_its_key() {
        AtomicInteger done = new AtomicInteger();
        assertEquals(1, once("create_order", "k1", "cart 1", done::incrementAndGet));
        assertEquals(1, once("create_order", "k1", "cart 1", done::incrementAndGet));
        assertEquals(2, once("create_order", "k2", "cart 1", done::incrementAndGet));
        assertThrows(KeyConflict.class, () -> once("create_order", "k1", "cart 2", done::incrementAndGet));
        assertThrows(
                ArithmeticException.class,
                () -> once("x", "k", "f", () -> {
                    throw new ArithmeticException("no");
                }));
        assertEquals(7, once("x", "k", "f", () -> 7));
    }

    @Test
    void a_tx_step_commits_the_users_rows_with_its_record() {
        Workflow<String, Integer> flow = Workflow.define("rows", String.class, Integer.class)
                .body((ctx, in) -> {
                    ctx.tx("make", (sql, s) -> {
                        try (var statement = sql.createStatement()) {
                            statement.execute("CREATE TABLE IF NOT EXISTS mine (n INTEGER)");
                        }
                    });
                    return ctx.tx("insert", Integer.class, (sql, s) -> {
                        try (var statement = sql.createStatement()) {
                            statement.execute("INSERT INTO mine VALUES (1)");
                            var rows = statement.executeQuery("SELECT count(*) FROM mine");
                            rows.next();
                            return rows.getInt(1);
                        }
                    });
                });
        semel.register(flow);
        assertEquals(1, semel.start(flow, "x").result(SOON));
        assertEquals(2, semel.start(flow, "y").result(SOON));
    }

    @Test
    void runs_of_one_entity_execute_one_after_another() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Workflow<Integer, Integer> flow = Workflow.define("serial", Integer.class, Integer.class)
                .serialBy(n -> "one")
                .body((ctx, n) -> ctx.step("work", Integer.class, _ -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.yield();
                    inside.decrementAndGet();
                    return n;
                }));
        semel.register(flow);
        List<RunHandle<Integer>> runs = new java.util.ArrayList<>();
        for (int i = 0; i < 10; i++) {
            runs.add(semel.start(flow, i));
        }
        for (int i = 0; i < 10; i++) {
            assertEquals(i, runs.get(i).result(SOON));
        }
        assertEquals(1, most.get());
    }

    @Test
    void a_key_is_judged_by_the_declaration_that_admitted_it() {
        Workflow<Order, String> first = Workflow.define("changing", Order.class, String.class)
                .fingerprint(Order::id)
                .body((ctx, order) -> order.id());
        Workflow<Order, String> second = Workflow.define("changing", Order.class, String.class)
                .fingerprint(Order::id, Order::lines)
                .keysPerWorkflow()
                .body((ctx, order) -> order.id());
        Order order = new Order("o-1", List.of("a"));
        semel.register(first);
        RunHandle<String> run = semel.start(first, order, Start.withKey("k"));
        semel.register(second);
        RunHandle<String> again = semel.start(second, new Order("o-1", List.of("b")), Start.withKey("k"));
        assertEquals(run.id(), again.id(), "the lines did not count when it was admitted");
        assertTrue(again.replayed());
    }

    @Test
    void a_changed_message_waits_for_a_user_if_declared() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, Integer> flow = Workflow.define("reviewed", String.class, Integer.class)
                .body((ctx, text) -> ctx.effect("mail")
                        .key("news", "ann")
                        .oncePer(Duration.ofDays(1))
                        .data(text)
                        .onChange(dev.semel.policy.ChangedEffectDataPolicy.REVIEW)
                        .askOnDoubt("ops")
                        .call(Integer.class, _ -> sent.incrementAndGet()));
        semel.register(flow);
        assertEquals(1, semel.start(flow, "a").result(SOON));
        RunHandle<Integer> runHandle = semel.start(flow, "b");
        Await.until("it asks", () -> String.valueOf(runHandle.waitingFor()).contains("review"));
        assertTrue(runHandle.decideChangedMessage("mail", false, "ann", "no"));
        assertEquals(1, runHandle.result(SOON));
        RunHandle<Integer> meant = semel.start(flow, "c");
        Await.until("it asks", () -> String.valueOf(meant.waitingFor()).contains("review"));
        assertTrue(meant.decideChangedMessage("mail", true, "ann", "yes"));
        assertEquals(2, meant.result(SOON));
    }
}
