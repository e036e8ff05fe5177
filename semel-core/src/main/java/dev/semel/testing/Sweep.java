package dev.semel.testing;

import dev.semel.Semel;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs a scenario once per crash point, with a crash at that point, and checks that nothing is lost or duplicated. */
public final class Sweep {
    private static final int MOST_POINTS = 2_000;
    private static final int MOST_TRIES = 3;

    private final Lab lab;
    private final Lab.Scenario scenario;
    private @Nullable String duplicatesAllowed;
    private boolean made;

    Sweep(Lab lab, Lab.Scenario scenario) {
        this.lab = lab;
        this.scenario = scenario;
    }

    boolean isMade() {
        return made;
    }

    /** Reports duplicated effects without failing, for effects that are safe to repeat. */
    public Sweep duplicatesAllowed(String because) {
        if (because.isBlank()) {
            throw new IllegalArgumentException("a reason why effects may be duplicated is required");
        }
        duplicatesAllowed = because;
        return this;
    }

    /**
     * Executes the sweep. The check runs in every environment when its runs have ended or wait for a message; all
     * timers have fired by then.
     *
     * @throws SweepFailed if a check fails, a run is lost or an effect is duplicated; it names the crash points
     */
    public SweepReport check(Lab.Scenario check) {
        SweepReport report = make(check);
        if (!report.failures(duplicatesAllowed == null).isEmpty()) {
            throw new SweepFailed(report, duplicatesAllowed == null);
        }
        return report;
    }

    /** Executes the sweep without an additional check, and prints the report. */
    public SweepReport report() {
        return check(_ -> {}).report();
    }

    private SweepReport make(Lab.Scenario check) {
        made = true;
        long begun = lab.nanos();
        lab.providers().values().forEach(Provider::keepScript);
        Trial baseline = trial(null, check, 0);
        List<CrashPoint> points = baseline.points();
        if (points.size() > MOST_POINTS) {
            throw new IllegalStateException("The scenario passes " + points.size() + " crash points; the maximum is "
                    + MOST_POINTS + ". No crash was tested. Make the scenario smaller.");
        }
        List<SweepReport.Outcome> outcomes = new ArrayList<>();
        outcomes.add(baseline.outcome());
        // The scenario must work without a crash; otherwise every crash would fail for an unrelated reason.
        if (baseline.outcome().problem() == null) {
            for (CrashPoint point : points) {
                outcomes.add(crash(point, check, baseline.distinctEffects()));
            }
        }
        lab.newWorld();
        String names = lab.workflows().stream().map(Workflow::name).collect(Collectors.joining(", "));
        return new SweepReport(names, outcomes, lab.nanos() - begun);
    }

    /** Commit batches vary between executions, so a crash point that was not reached is tried again a few times. */
    private SweepReport.Outcome crash(CrashPoint point, Lab.Scenario check, int effectsWithoutCrash) {
        SweepReport.Outcome outcome = trial(point, check, effectsWithoutCrash).outcome();
        for (int tries = 1; tries < MOST_TRIES && !outcome.reached() && outcome.problem() == null; tries++) {
            outcome = trial(point, check, effectsWithoutCrash).outcome();
        }
        return outcome;
    }

    /** @param points crash points of the scenario; those that the check passes, e.g. by a repeated start, are not included */
    private record Trial(SweepReport.Outcome outcome, int distinctEffects, List<CrashPoint> points) {}

    /** @param effectsWithoutCrash number of distinct effects in the execution without a crash */
    private Trial trial(@Nullable CrashPoint point, Lab.Scenario check, int effectsWithoutCrash) {
        World world = lab.newWorld();
        world.points().countFromHere(point);
        Throwable problem = problem(() -> {
            scenario.play(lab);
            lab.passAllTime();
        });
        List<CrashPoint> points = world.points().passed();
        List<String> lost = lost();
        if (problem == null) {
            problem = problem(() -> check.play(lab));
        }
        if (problem == null) {
            problem = problem(() -> Portrait.check(lab.semel()));
        }
        int distinct = sum(Provider::deeds);
        int more = point == null ? 0 : Math.max(0, distinct - effectsWithoutCrash);
        SweepReport.Outcome outcome = new SweepReport.Outcome(
                point,
                point == null || world.points().isReached(),
                new SweepReport.Tally(
                        sum(Provider::calls), sum(Provider::effects), sum(Provider::repeatedEffects) + more),
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

    private int sum(ToIntFunction<Provider> count) {
        return lab.providers().values().stream().mapToInt(count).sum();
    }

    /** Runs that a caller started and that cannot continue, each with the reason. */
    private List<String> lost() {
        List<String> lost = new ArrayList<>();
        Semel semel = lab.semel();
        for (String runId : lab.started().stream().distinct().toList()) {
            String why = Portrait.lost(semel.backstage().row(runId));
            if (why != null) {
                lost.add(runId + ": " + why);
            }
        }
        return lost;
    }
}
