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
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Key;
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
final class CrashInjectionRunnerTest {
    private static final Start KEY = Start.withKey("evt_1");

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards");

    @AfterEach
    void close() {
        kit.close();
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
        kit.register(flow);
        return flow;
    }

    private Workflow<String, String> withProviderKey() {
        return charging(
                draft -> draft.providerHonoursKey(Duration.ofHours(24)).call(String.class, e -> cards.call(e.key())));
    }

    private static List<String> points(CrashInjectionReport report) {
        return report.outcomes().stream()
                .filter(outcome -> outcome.point() != null)
                .map(outcome -> String.valueOf(outcome.point()))
                .toList();
    }

    @Test
    void a_provider_with_keys_accepts_one_effect_in_spite_of_crashes_and_lost_responses() {
        cards.honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
        Workflow<String, String> flow = withProviderKey();
        CrashInjectionReport report = kit.crashEverywhere(l -> l.start(flow, "x", KEY))
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
    void lookup_at_most_once_and_review_never_duplicate() {
        Workflow<String, String> looked = charging(
                draft -> draft.lookup(String.class, e -> cards.find(e.key())).call(e -> cards.call(e.key())));
        kit.crashEverywhere(l -> l.start(looked, "x", KEY)).check(l -> assertEquals(1, cards.effects()));
        Workflow<String, String> atMost =
                charging(draft -> switch (draft.atMostOnce().call(String.class, e -> cards.call(e.key()))) {
                    case EffectOutcome.Done<String> done -> done.value();
                    case EffectOutcome.Indeterminate<String> _ -> "nobody knows";
                });
        kit.crashEverywhere(l -> l.start(atMost, "x", KEY)).check(l -> assertTrue(cards.effects() <= 1));
        Workflow<String, String> workflow =
                charging(draft -> draft.askOnDoubt("ops").call(String.class, e -> cards.call(e.key())));
        kit.crashEverywhere(l -> l.start(workflow, "x", KEY)).check(l -> assertTrue(cards.effects() <= 1));
    }

    @Test
    void an_effect_falsely_declared_repeatable_is_caught_and_the_crash_point_named() {
        Workflow<String, String> unsafe =
                charging(draft -> draft.repeatable("not true").call(String.class, e -> cards.call(e.key())));
        CrashInjectionRunner sweep = kit.crashEverywhere(l -> l.start(unsafe, "x", KEY));
        CrashInjectionFailed failed = assertThrows(CrashInjectionFailed.class, () -> sweep.check(_ -> {}));
        assertTrue(failed.report().duplicatedEffects() > 0);
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("at effect-sent 1: 1 duplicated effects (2 calls, 2 effects)"), message);
        assertTrue(message.contains("Reproduce it: crashAt(\"effect-sent\", 1)"), message);

        kit.crashAt("effect-sent", 1);
        assertEquals("cards-2!", kit.result(kit.start(unsafe, "x", KEY)));
        assertEquals(2, cards.effects(), "and it can be tried alone");
        assertEquals(1, cards.keys().stream().distinct().count());
    }

    @Test
    void allowed_duplicates_are_counted_and_fail_nothing() {
        Workflow<String, String> harmless =
                charging(draft -> draft.repeatable("a cache").call(String.class, e -> cards.call(e.key())));
        CrashInjectionReport report = kit.crashEverywhere(l -> l.start(harmless, "x", KEY))
                .allowDuplicates("a cache is filled twice")
                .check(_ -> {});
        assertTrue(report.duplicatedEffects() > 0);
        assertEquals(report.points(), report.recovered());
    }

    @Test
    void a_retry_without_a_key_starts_a_second_run_and_is_caught() {
        cards.honoursKeysFor(Duration.ofHours(24));
        Workflow<String, String> flow = Workflow.define("pay", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, e -> cards.call(e.key())));
        kit.register(flow);
        CrashInjectionRunner sweep = kit.crashEverywhere(l -> l.start(flow, "x"));
        CrashInjectionFailed failed = assertThrows(CrashInjectionFailed.class, sweep::report);
        assertTrue(
                String.valueOf(failed.getMessage()).contains("at batch-committed 1: 1 duplicated"), failed::getMessage);
    }

    @Test
    void a_failing_check_names_its_crash_point_and_carries_its_cause() {
        Workflow<String, String> flow =
                charging(draft -> draft.repeatable("counts itself").call(String.class, e -> "c"));
        CrashInjectionRunner sweep = kit.crashEverywhere(l -> l.start(flow, "x", KEY));
        CrashInjectionFailed failed = assertThrows(
                CrashInjectionFailed.class,
                () -> sweep.check(l -> assertFalse(l.environment().points().isReached(), "it crashed")));
        assertEquals(failed.report().points(), failed.report().failures(true).size());
        assertEquals(0, failed.report().recovered());
        assertInstanceOf(AssertionFailedError.class, failed.getCause());
    }

    @Test
    void a_scenario_that_fails_without_a_crash_is_reported_and_no_crash_is_tried() {
        CrashInjectionRunner sweep = kit.crashEverywhere(_ -> {
            throw new java.io.IOException("the scenario itself");
        });
        CrashInjectionFailed failed = assertThrows(CrashInjectionFailed.class, sweep::report);
        assertEquals(0, failed.report().points());
        assertTrue(String.valueOf(failed.getMessage()).contains("without a crash: IOException: the scenario itself"));
    }

    @Test
    void signals_children_branches_and_two_workers_survive_every_crash() {
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
        kit.twoWorkers().duplicateEverything().register(child, flow);
        CrashInjectionReport report = kit.crashEverywhere(l -> {
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
    void nondeterministic_code_loses_its_run_and_is_caught() {
        AtomicInteger executions = new AtomicInteger();
        Workflow<String, String> fickle = Workflow.define("fickle", String.class, String.class)
                .body((ctx, in) -> {
                    String name = "step " + executions.incrementAndGet(); // not the same each time: the mistake
                    ctx.step(name, String.class, _ -> "done");
                    ctx.awaitDurable();
                    return ctx.step("last", String.class, _ -> "end");
                });
        kit.register(fickle);
        CrashInjectionRunner sweep = kit.crashEverywhere(l -> l.start(fickle, "x", KEY));
        CrashInjectionFailed failed = assertThrows(CrashInjectionFailed.class, sweep::report);
        assertTrue(failed.report().lostRuns() > 0);
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("at run-ending 1: lost run run_"), message);
        assertTrue(message.contains("it is held: {\"for\":\"code\""), message);
    }

    @Test
    void a_missing_run_counts_as_lost() {
        assertEquals("it is not in the store", TestRunConsistencyChecker.lostReason(null));
        assertNull(TestRuntime.of(kit).testAccess().findRun("run_3H5wXAQaEjrZOshsbxHPtO"));
    }

    @Test
    void an_unused_sweep_fails_the_test_that_forgot_it() {
        WorkflowTestKit forgetful = new WorkflowTestKit();
        forgetful.crashEverywhere(_ -> {});
        assertThrows(AssertionError.class, forgetful::close);
    }

    @Test
    void the_report_counts_what_it_is_given() {
        CrashInjectionPoint sent = new CrashInjectionPoint("effect-sent", 1);
        var calm = new CrashInjectionReport.CrashResult(
                null, true, new CrashInjectionReport.EffectCounts(1, 1, 0), List.of(), null);
        var fine = new CrashInjectionReport.CrashResult(
                sent, true, new CrashInjectionReport.EffectCounts(3, 1, 0), List.of(), null);
        var twice = new CrashInjectionReport.CrashResult(
                new CrashInjectionPoint("effect-sent", 2),
                true,
                new CrashInjectionReport.EffectCounts(2, 2, 1),
                List.of(),
                null);
        var lost = new CrashInjectionReport.CrashResult(
                new CrashInjectionPoint("run-ending", 1),
                true,
                new CrashInjectionReport.EffectCounts(1, 1, 0),
                List.of("run_a: gone"),
                null);
        var missed = new CrashInjectionReport.CrashResult(
                new CrashInjectionPoint("batch-committed", 9),
                false,
                new CrashInjectionReport.EffectCounts(1, 1, 0),
                List.of(),
                null);
        CrashInjectionReport report =
                new CrashInjectionReport("pay", List.of(calm, fine, twice, lost, missed), 1_840_000_000L);
        assertEquals("""
            crash sweep  pay   4 points   2 recovered   1 duplicated effects   1 lost runs   1.8 s
              1 points were not reached again, so the engine did not crash there
              most repeated calls: effect-sent 1 → 3 calls, 1 effects\
            """, report.text());
        assertEquals(2, report.failures(true).size());
        assertEquals(
                List.of("  at run-ending 1: lost run run_a: gone. Reproduce it: crashAt(\"run-ending\", 1)"),
                report.failures(false));
    }
}
