package dev.semel.testing;

import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs a scenario once per crash point, with a crash at that point, and checks that nothing is lost or duplicated. */
public final class CrashInjectionRunner {
    private static final int MOST_POINTS = 2_000;
    private static final int MOST_TRIES = 3;

    private final WorkflowTestKit kit;
    private final WorkflowTestKit.Scenario scenario;
    private @Nullable String allowDuplicates;
    private boolean made;

    CrashInjectionRunner(WorkflowTestKit kit, WorkflowTestKit.Scenario scenario) {
        this.kit = kit;
        this.scenario = scenario;
    }

    boolean hasRun() {
        return made;
    }

    /** Reports duplicated effects without failing, for effects that are safe to repeat. */
    public CrashInjectionRunner allowDuplicates(String because) {
        if (because.isBlank()) {
            throw new IllegalArgumentException("a reason why effects may be duplicated is required");
        }
        allowDuplicates = because;
        return this;
    }

    /**
     * Executes the sweep. The check runs in every environment when its runs have ended or wait for a message; all
     * timers have fired by then.
     *
     * @throws AssertionError if a check fails, a run is lost or an effect is duplicated; it names the crash points
     */
    public CrashInjectionReport check(WorkflowTestKit.Scenario check) {
        CrashInjectionReport report = make(check);
        if (!report.failures(allowDuplicates == null).isEmpty()) {
            throw new CrashInjectionFailed(report, allowDuplicates == null);
        }
        return report;
    }

    /** Executes the sweep without an additional check, and prints the report. */
    public CrashInjectionReport report() {
        return check(_ -> {}).report();
    }

    private CrashInjectionReport make(WorkflowTestKit.Scenario check) {
        made = true;
        long begun = kit.nanos();
        kit.providers().values().forEach(FakeExternalSystem::saveScript);
        Trial baseline = trial(null, check, 0);
        List<CrashInjectionPoint> points = baseline.points();
        if (points.size() > MOST_POINTS) {
            throw new IllegalStateException("The scenario passes " + points.size() + " crash points; the maximum is "
                    + MOST_POINTS + ". No crash was tested. Make the scenario smaller.");
        }
        List<CrashInjectionReport.CrashResult> outcomes = new ArrayList<>();
        outcomes.add(baseline.outcome());
        // The scenario must work without a crash; otherwise every crash would fail for an unrelated reason.
        if (baseline.outcome().problem() == null) {
            for (CrashInjectionPoint point : points) {
                outcomes.add(crash(point, check, baseline.distinctEffects()));
            }
        }
        kit.newEnvironment();
        String names = kit.workflows().stream().map(Workflow::name).collect(Collectors.joining(", "));
        return new CrashInjectionReport(names, outcomes, kit.nanos() - begun);
    }

    /** Commit batches vary between executions, so a crash point that was not reached is tried again a few times. */
    private CrashInjectionReport.CrashResult crash(
            CrashInjectionPoint point, WorkflowTestKit.Scenario check, int effectsWithoutCrash) {
        CrashInjectionReport.CrashResult outcome =
                trial(point, check, effectsWithoutCrash).outcome();
        for (int tries = 1; tries < MOST_TRIES && !outcome.reached() && outcome.problem() == null; tries++) {
            outcome = trial(point, check, effectsWithoutCrash).outcome();
        }
        return outcome;
    }

    /** @param points crash points of the scenario; those that the check passes, e.g. by a repeated start, are not included */
    private record Trial(
            CrashInjectionReport.CrashResult outcome, int distinctEffects, List<CrashInjectionPoint> points) {}

    /** @param effectsWithoutCrash number of distinct effects in the execution without a crash */
    private Trial trial(@Nullable CrashInjectionPoint point, WorkflowTestKit.Scenario check, int effectsWithoutCrash) {
        WorkflowTestKitEnvironment testEnvironment = kit.newEnvironment();
        testEnvironment.points().startCounting(point);
        Throwable problem = problem(() -> {
            scenario.run(kit);
            kit.passAllTime();
        });
        List<CrashInjectionPoint> points = testEnvironment.points().recordedPoints();
        List<String> lost = lost();
        if (problem == null) {
            problem = problem(() -> check.run(kit));
        }
        if (problem == null) {
            problem = problem(() -> TestRunConsistencyChecker.checkRows(kit.runtime()));
        }
        int distinct = sum(FakeExternalSystem::distinctEffects);
        int more = point == null ? 0 : Math.max(0, distinct - effectsWithoutCrash);
        CrashInjectionReport.CrashResult outcome = new CrashInjectionReport.CrashResult(
                point,
                point == null || testEnvironment.points().isReached(),
                new CrashInjectionReport.EffectCounts(
                        sum(FakeExternalSystem::calls),
                        sum(FakeExternalSystem::effects),
                        sum(FakeExternalSystem::repeatedEffects) + more),
                lost,
                problem);
        return new Trial(outcome, distinct, points);
    }

    @FunctionalInterface
    private interface Part {
        void play() throws Exception;
    }

    private static @Nullable Throwable problem(Part part) {
        try {
            part.play();
            return null;
        } catch (Exception | Error e) {
            return e;
        }
    }

    private int sum(ToIntFunction<FakeExternalSystem> count) {
        return kit.providers().values().stream().mapToInt(count).sum();
    }

    /** Runs that a caller started and that cannot continue, each with the reason. */
    private List<String> lost() {
        List<String> lost = new ArrayList<>();
        SemelRuntime semel = kit.runtime();
        for (String runId : kit.started().stream().distinct().toList()) {
            String why = TestRunConsistencyChecker.lostReason(semel.testAccess().findRun(runId));
            if (why != null) {
                lost.add(runId + ": " + why);
            }
        }
        return lost;
    }
}
