package dev.semel.testing;

import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs a scenario once per crash point, with a crash at that point, and checks that nothing is lost or duplicated. */
public final class CrashSweep {
    private static final int MOST_POINTS = 2_000;
    private static final int MOST_TRIES = 3;

    private final WorkflowTestKit lab;
    private final WorkflowTestKit.Scenario scenario;
    private @Nullable String allowDuplicates;
    private boolean made;

    CrashSweep(WorkflowTestKit lab, WorkflowTestKit.Scenario scenario) {
        this.lab = lab;
        this.scenario = scenario;
    }

    boolean hasRun() {
        return made;
    }

    /** Reports duplicated effects without failing, for effects that are safe to repeat. */
    public CrashSweep allowDuplicates(String because) {
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
    public CrashSweepReport check(WorkflowTestKit.Scenario check) {
        CrashSweepReport report = make(check);
        if (!report.failures(allowDuplicates == null).isEmpty()) {
            throw new CrashSweepFailed(report, allowDuplicates == null);
        }
        return report;
    }

    /** Executes the sweep without an additional check, and prints the report. */
    public CrashSweepReport report() {
        return check(_ -> {}).report();
    }

    private CrashSweepReport make(WorkflowTestKit.Scenario check) {
        made = true;
        long begun = lab.nanos();
        lab.providers().values().forEach(FakeProvider::saveScript);
        Trial baseline = trial(null, check, 0);
        List<CrashPoint> points = baseline.points();
        if (points.size() > MOST_POINTS) {
            throw new IllegalStateException("The scenario passes " + points.size() + " crash points; the maximum is "
                    + MOST_POINTS + ". No crash was tested. Make the scenario smaller.");
        }
        List<CrashSweepReport.CrashResult> outcomes = new ArrayList<>();
        outcomes.add(baseline.outcome());
        // The scenario must work without a crash; otherwise every crash would fail for an unrelated reason.
        if (baseline.outcome().problem() == null) {
            for (CrashPoint point : points) {
                outcomes.add(crash(point, check, baseline.distinctEffects()));
            }
        }
        lab.newEnvironment();
        String names = lab.workflows().stream().map(Workflow::name).collect(Collectors.joining(", "));
        return new CrashSweepReport(names, outcomes, lab.nanos() - begun);
    }

    /** Commit batches vary between executions, so a crash point that was not reached is tried again a few times. */
    private CrashSweepReport.CrashResult crash(CrashPoint point, WorkflowTestKit.Scenario check, int effectsWithoutCrash) {
        CrashSweepReport.CrashResult outcome = trial(point, check, effectsWithoutCrash).outcome();
        for (int tries = 1; tries < MOST_TRIES && !outcome.reached() && outcome.problem() == null; tries++) {
            outcome = trial(point, check, effectsWithoutCrash).outcome();
        }
        return outcome;
    }

    /** @param points crash points of the scenario; those that the check passes, e.g. by a repeated start, are not included */
    private record Trial(CrashSweepReport.CrashResult outcome, int distinctEffects, List<CrashPoint> points) {}

    /** @param effectsWithoutCrash number of distinct effects in the execution without a crash */
    private Trial trial(@Nullable CrashPoint point, WorkflowTestKit.Scenario check, int effectsWithoutCrash) {
        TestEnvironment world = lab.newEnvironment();
        world.points().startCounting(point);
        Throwable problem = problem(() -> {
            scenario.run(lab);
            lab.passAllTime();
        });
        List<CrashPoint> points = world.points().recordedPoints();
        List<String> lost = lost();
        if (problem == null) {
            problem = problem(() -> check.run(lab));
        }
        if (problem == null) {
            problem = problem(() -> RunInspector.checkRows(lab.runtime()));
        }
        int distinct = sum(FakeProvider::distinctEffects);
        int more = point == null ? 0 : Math.max(0, distinct - effectsWithoutCrash);
        CrashSweepReport.CrashResult outcome = new CrashSweepReport.CrashResult(
                point,
                point == null || world.points().isReached(),
                new CrashSweepReport.EffectCounts(
                        sum(FakeProvider::calls), sum(FakeProvider::effects), sum(FakeProvider::repeatedEffects) + more),
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

    private int sum(ToIntFunction<FakeProvider> count) {
        return lab.providers().values().stream().mapToInt(count).sum();
    }

    /** Runs that a caller started and that cannot continue, each with the reason. */
    private List<String> lost() {
        List<String> lost = new ArrayList<>();
        SemelRuntime semel = lab.runtime();
        for (String runId : lab.started().stream().distinct().toList()) {
            String why = RunInspector.lostReason(semel.testAccess().findRun(runId));
            if (why != null) {
                lost.add(runId + ": " + why);
            }
        }
        return lost;
    }
}
