package dev.semel.testing;

import dev.semel.Semel;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A crash at every point of a scenario, one world for each. */
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

    /** Duplicated effects are counted and told, and fail nothing: for effects whose protection is their harmlessness. */
    public Sweep duplicatesAllowed(String because) {
        if (because.isBlank()) {
            throw new IllegalArgumentException("a reason is needed why effects may be duplicated");
        }
        duplicatesAllowed = because;
        return this;
    }

    /**
     * Makes the sweep. The check runs in every world once its runs have ended or wait for a message; all time that they
     * wait for has passed by then.
     *
     * @throws SweepFailed where a check fails, a run is lost, or an effect is duplicated; it names the points
     */
    public SweepReport check(Lab.Scenario check) {
        SweepReport report = make(check);
        if (!report.failures(duplicatesAllowed == null).isEmpty()) {
            throw new SweepFailed(report, duplicatesAllowed == null);
        }
        return report;
    }

    /** Makes the sweep without a check of its own, and prints what it found. */
    public SweepReport report() {
        return check(_ -> {}).report();
    }

    private SweepReport make(Lab.Scenario check) {
        made = true;
        long begun = lab.nanos();
        lab.providers().values().forEach(Provider::keepScript);
        Trial calm = trial(null, check, 0);
        List<CrashPoint> points = calm.points();
        if (points.size() > MOST_POINTS) {
            throw new IllegalStateException("The scenario passes " + points.size() + " crash points, and " + MOST_POINTS
                    + " are the most. No crash was tried. Make the scenario smaller.");
        }
        List<SweepReport.Outcome> outcomes = new ArrayList<>();
        outcomes.add(calm.outcome());
        // Without a crash it must work; otherwise every crash would fail for a reason of its own.
        if (calm.outcome().problem() == null) {
            for (CrashPoint point : points) {
                outcomes.add(crash(point, check, calm.deeds()));
            }
        }
        lab.newWorld();
        String names = lab.workflows().stream().map(Workflow::name).collect(Collectors.joining(", "));
        return new SweepReport(names, outcomes, lab.nanos() - begun);
    }

    /** Batches do not always fall alike: a point that was not reached is tried again, a few times. */
    private SweepReport.Outcome crash(CrashPoint point, Lab.Scenario check, int calmDeeds) {
        SweepReport.Outcome outcome = trial(point, check, calmDeeds).outcome();
        for (int tries = 1; tries < MOST_TRIES && !outcome.reached() && outcome.problem() == null; tries++) {
            outcome = trial(point, check, calmDeeds).outcome();
        }
        return outcome;
    }

    /** @param points those of the scenario; what the check does, e.g. a repeated start, is none of it */
    private record Trial(SweepReport.Outcome outcome, int deeds, List<CrashPoint> points) {}

    /** @param calmDeeds how many different deeds were done without a crash */
    private Trial trial(@Nullable CrashPoint point, Lab.Scenario check, int calmDeeds) {
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
        int deeds = sum(Provider::deeds);
        int more = point == null ? 0 : Math.max(0, deeds - calmDeeds);
        SweepReport.Outcome outcome = new SweepReport.Outcome(
                point,
                point == null || world.points().isReached(),
                new SweepReport.Tally(
                        sum(Provider::calls), sum(Provider::effects), sum(Provider::repeatedEffects) + more),
                lost,
                problem);
        return new Trial(outcome, deeds, points);
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

    /** Runs that a caller was told of and that will not go on, each with the reason. */
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
