package dev.semel.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.runtime.TestRuntime;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Key;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/** Crashes everywhere: safe workflows pass, unsafe ones are caught, and the report counts right. */
final class CrashSweepTest {
    private static final Start KEY = Start.withKey("evt_1");

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards");

    @AfterEach
    void close() {
        lab.close();
    }

    @FunctionalInterface
    private interface Protected {
        String charge(EffectBuilder draft);
    }

    private Workflow<String, String> charging(Protected how) {
        Workflow<String, String> flow = Workflow.define("pay", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.step("look", String.class, _ -> "seen");
                    String charge = how.charge(ctx.effect("charge").key("charge", in));
                    return charge + ctx.step("after", String.class, _ -> "!");
                });
        lab.register(flow);
        return flow;
    }

    private Workflow<String, String> withProviderKey() {
        return charging(
                draft -> draft.providerHonoursKey(Duration.ofHours(24)).call(String.class, e -> cards.call(e.key())));
    }

    private static List<String> points(CrashSweepReport report) {
        return report.outcomes().stream()
                .filter(outcome -> outcome.point() != null)
                .map(outcome -> String.valueOf(outcome.point()))
                .toList();
    }

    @Test
    void a_provider_that_honours_keys_makes_one_effect_whatever_crashes_and_whatever_answer_is_lost() {
        cards.honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
        Workflow<String, String> flow = withProviderKey();
        CrashSweepReport report = lab.crashEverywhere(l -> l.start(flow, "x", KEY))
                .check(l -> {
                    assertEquals(1, cards.effects());
                    assertEquals("cards-1!", l.result(l.start(flow, "x", KEY)));
                })
                .report();
        assertEquals(report.points(), report.recovered(), report.text());
        assertEquals(0, report.duplicatedEffects());
        assertEquals(0, report.lostRuns());
        List<String> points = points(report);
        List<String> wanted = List.of(
                "batch-committed 1",
                "step-done 1",
                "effect-reserved 1",
                "effect-reserved 2",
                "effect-sent 1",
                "step-done 2",
                "run-ending 1");
        assertTrue(points.containsAll(wanted), points::toString);
        assertTrue(report.text().contains("calls, 1 effects"), report.text());
    }

    @Test
    void a_lookup_an_at_most_once_and_a_question_never_make_two() {
        Workflow<String, String> looked = charging(
                draft -> draft.lookup(String.class, e -> cards.find(e.key())).call(e -> cards.call(e.key())));
        lab.crashEverywhere(l -> l.start(looked, "x", KEY)).check(l -> assertEquals(1, cards.effects()));
        Workflow<String, String> atMost =
                charging(draft -> switch (draft.atMostOnce().call(String.class, e -> cards.call(e.key()))) {
                    case Outcome.Done<String> done -> done.value();
                    case Outcome.Indeterminate<String> _ -> "nobody knows";
                });
        lab.crashEverywhere(l -> l.start(atMost, "x", KEY)).check(l -> assertTrue(cards.effects() <= 1));
        Workflow<String, String> asked =
                charging(draft -> draft.askOnDoubt("ops").call(String.class, e -> cards.call(e.key())));
        lab.crashEverywhere(l -> l.start(asked, "x", KEY)).check(l -> assertTrue(cards.effects() <= 1));
    }

    @Test
    void an_effect_that_only_claims_to_be_repeatable_is_caught_and_the_point_is_named() {
        Workflow<String, String> unsafe =
                charging(draft -> draft.repeatable("not true").call(String.class, e -> cards.call(e.key())));
        CrashSweep sweep = lab.crashEverywhere(l -> l.start(unsafe, "x", KEY));
        CrashSweepFailed failed = assertThrows(CrashSweepFailed.class, () -> sweep.check(_ -> {}));
        assertTrue(failed.report().duplicatedEffects() > 0);
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("at effect-sent 1: 1 duplicated effects (2 calls, 2 effects)"), message);
        assertTrue(message.contains("crashAt(\"effect-sent\", 1)"), message);

        lab.crashAt("effect-sent", 1);
        assertEquals("cards-2!", lab.result(lab.start(unsafe, "x", KEY)));
        assertEquals(2, cards.effects(), "and it can be tried alone");
        assertEquals(1, cards.keys().stream().distinct().count());
    }

    @Test
    void duplicates_that_are_allowed_are_counted_and_fail_nothing() {
        Workflow<String, String> harmless =
                charging(draft -> draft.repeatable("a cache").call(String.class, e -> cards.call(e.key())));
        CrashSweepReport report = lab.crashEverywhere(l -> l.start(harmless, "x", KEY))
                .allowDuplicates("a cache is filled twice")
                .check(_ -> {});
        assertTrue(report.duplicatedEffects() > 0);
        assertEquals(report.points(), report.recovered());
    }

    @Test
    void a_caller_without_a_key_who_asks_again_makes_a_second_run_and_is_caught() {
        cards.honoursKeysFor(Duration.ofHours(24));
        Workflow<String, String> flow = Workflow.define("pay", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, e -> cards.call(e.key())));
        lab.register(flow);
        CrashSweep sweep = lab.crashEverywhere(l -> l.start(flow, "x"));
        CrashSweepFailed failed = assertThrows(CrashSweepFailed.class, sweep::report);
        assertTrue(
                String.valueOf(failed.getMessage()).contains("at batch-committed 1: 1 duplicated"), failed::getMessage);
    }

    @Test
    void a_check_that_fails_names_its_point_and_carries_its_cause() {
        Workflow<String, String> flow =
                charging(draft -> draft.repeatable("counts itself").call(String.class, e -> "c"));
        CrashSweep sweep = lab.crashEverywhere(l -> l.start(flow, "x", KEY));
        CrashSweepFailed failed = assertThrows(
                CrashSweepFailed.class,
                () -> sweep.check(l -> assertFalse(l.environment().points().isReached(), "it crashed")));
        assertEquals(failed.report().points(), failed.report().failures(true).size());
        assertEquals(0, failed.report().recovered());
        assertInstanceOf(AssertionFailedError.class, failed.getCause());
    }

    @Test
    void a_scenario_that_fails_without_a_crash_is_told_and_no_crash_is_tried() {
        CrashSweep sweep = lab.crashEverywhere(_ -> {
            throw new java.io.IOException("the scenario itself");
        });
        CrashSweepFailed failed = assertThrows(CrashSweepFailed.class, sweep::report);
        assertEquals(0, failed.report().points());
        assertTrue(String.valueOf(failed.getMessage()).contains("without a crash: IOException: the scenario itself"));
    }

    @Test
    void signals_children_branches_and_two_workers_live_through_every_crash() {
        Signal<String> paid = Signal.of("paid", String.class);
        cards.honoursKeysFor(Duration.ofDays(2));
        Workflow<String, String> child = Workflow.define("child", String.class, String.class)
                .body((ctx, in) -> ctx.effect("pick")
                        .providerHonoursKey(Duration.ofDays(1))
                        .call(String.class, e -> cards.call(e.key(), () -> in)));
        Workflow<String, String> flow = Workflow.define("order", String.class, String.class)
                .body((ctx, in) -> {
                    String reference = ctx.await(paid);
                    ctx.sleep("cool off", Duration.ofMinutes(30));
                    List<String> picked = ctx.forEach("lines", List.of("a", "b"), line -> line)
                            .concurrency(2)
                            .run((c, line) -> c.call(child, line));
                    return reference + picked;
                });
        lab.twoWorkers().duplicateEverything().register(child, flow);
        CrashSweepReport report = lab.crashEverywhere(l -> {
                    Run<String> run = l.start(flow, "x", KEY);
                    run.signal(paid, "p", Key.of("s1"));
                })
                .check(l -> {
                    assertEquals("p[a, b]", l.result(l.start(flow, "x", KEY)));
                    assertEquals(2, cards.effects());
                })
                .report();
        assertEquals(report.points() - report.notReached(), report.recovered());
        assertTrue(points(report).contains("child-started 2"), report::text);
    }

    @Test
    void code_that_asks_for_something_else_after_a_crash_loses_its_run_and_is_caught() {
        AtomicInteger executions = new AtomicInteger();
        Workflow<String, String> fickle = Workflow.define("fickle", String.class, String.class)
                .body((ctx, in) -> {
                    String name = "step " + executions.incrementAndGet(); // not the same each time: the mistake
                    ctx.step(name, String.class, _ -> "done");
                    ctx.awaitDurable();
                    return ctx.step("last", String.class, _ -> "end");
                });
        lab.register(fickle);
        CrashSweep sweep = lab.crashEverywhere(l -> l.start(fickle, "x", KEY));
        CrashSweepFailed failed = assertThrows(CrashSweepFailed.class, sweep::report);
        assertTrue(failed.report().lostRuns() > 0);
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("at run-ending 1: lost run run_"), message);
        assertTrue(message.contains("it is held: {\"for\":\"code\""), message);
    }

    @Test
    void a_run_that_is_nowhere_is_lost() {
        assertEquals("it is not in the store", RunInspector.lostReason(null));
        assertNull(TestRuntime.of(lab).testAccess().findRun("run_3H5wXAQaEjrZOshsbxHPtO"));
    }

    @Test
    void a_sweep_that_nobody_made_fails_the_test_that_forgot_it() {
        WorkflowTestKit forgetful = new WorkflowTestKit();
        forgetful.crashEverywhere(_ -> {});
        assertThrows(AssertionError.class, forgetful::close);
    }

    @Test
    void the_report_counts_what_it_is_told() {
        CrashPoint sent = new CrashPoint("effect-sent", 1);
        var calm = new CrashSweepReport.CrashResult(null, true, new CrashSweepReport.EffectCounts(1, 1, 0), List.of(), null);
        var fine = new CrashSweepReport.CrashResult(sent, true, new CrashSweepReport.EffectCounts(3, 1, 0), List.of(), null);
        var twice = new CrashSweepReport.CrashResult(
                new CrashPoint("effect-sent", 2), true, new CrashSweepReport.EffectCounts(2, 2, 1), List.of(), null);
        var lost = new CrashSweepReport.CrashResult(
                new CrashPoint("run-ending", 1), true, new CrashSweepReport.EffectCounts(1, 1, 0), List.of("run_a: gone"), null);
        var missed = new CrashSweepReport.CrashResult(
                new CrashPoint("batch-committed", 9), false, new CrashSweepReport.EffectCounts(1, 1, 0), List.of(), null);
        CrashSweepReport report = new CrashSweepReport("pay", List.of(calm, fine, twice, lost, missed), 1_840_000_000L);
        assertEquals("""
            crash sweep  pay   4 points   2 recovered   1 duplicated effects   1 lost runs   1.8 s
              1 points were not reached a second time
              worst gap: effect-sent 1 → 3 calls, 1 effects\
            """, report.text());
        assertEquals(2, report.failures(true).size());
        assertEquals(
                List.of("  at run-ending 1: lost run run_a: gone. Reproduce it: crashAt(\"run-ending\", 1)"),
                report.failures(false));
    }
}
