package dev.semel.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The report of a crash sweep: per crash point, whether its runs recovered, and lost runs and duplicated effects. */
public final class CrashInjectionReport {
    private static final double NANOS = 1e9;

    private final String workflow;
    private final List<CrashResult> outcomes;
    private final long nanos;

    /**
     * @param workflow the names of the workflows
     * @param outcomes first the execution without a crash, then one per crash point
     */
    CrashInjectionReport(String workflow, List<CrashResult> outcomes, long nanos) {
        this.workflow = workflow;
        this.outcomes = List.copyOf(outcomes);
        this.nanos = nanos;
    }

    List<CrashResult> outcomes() {
        return outcomes;
    }

    /**
     * The result of one execution of the scenario.
     *
     * @param point where the engine crashed; null for the execution without a crash
     * @param reached whether the engine passed that point this time; commit batches vary between executions
     * @param lostRuns runs that a caller started and that cannot continue, each with the reason
     * @param problem what the check or the scenario threw, or null
     */
    record CrashResult(
            @Nullable CrashInjectionPoint point,
            boolean reached,
            EffectCounts counts,
            List<String> lostRuns,
            @Nullable Throwable problem) {
        CrashResult {
            lostRuns = List.copyOf(lostRuns);
        }

        boolean isRecovered() {
            return point != null && reached && problem == null && lostRuns.isEmpty();
        }

        private String place() {
            return point == null ? "without a crash" : "at " + point;
        }

        /** Each failure, with its crash point and how to reproduce it. */
        private List<String> failures(boolean duplicatesCount) {
            List<String> all = new ArrayList<>();
            if (problem != null) {
                all.add(problem.getClass().getSimpleName() + ": " + problem.getMessage());
            }
            lostRuns.forEach(run -> all.add("lost run " + run));
            if (duplicatesCount && counts.duplicated() > 0) {
                all.add(counts.duplicated() + " duplicated effects (" + counts.calls() + " calls, " + counts.effects()
                        + " effects)");
            }
            String again =
                    point == null ? "" : ". Reproduce it: crashAt(\"" + point.label() + "\", " + point.pass() + ")";
            return all.stream()
                    .map(what -> "  " + place() + ": " + what + again)
                    .toList();
        }
    }

    /**
     * The totals of all fake providers.
     *
     * @param duplicated effects that happened again with the same key, and extra effects compared to the execution
     *     without a crash
     */
    record EffectCounts(int calls, int effects, int duplicated) {}

    public int points() {
        return count(outcome -> outcome.point() != null);
    }

    /** Crashes after which all runs recovered correctly. */
    public int recovered() {
        return count(CrashResult::isRecovered);
    }

    /** Crashes that did not happen, because the engine did not pass their point again. */
    public int notReached() {
        return count(outcome -> !outcome.reached());
    }

    public int duplicatedEffects() {
        return outcomes.stream()
                .mapToInt(outcome -> outcome.counts().duplicated())
                .sum();
    }

    public int lostRuns() {
        return outcomes.stream().mapToInt(outcome -> outcome.lostRuns().size()).sum();
    }

    private int count(Predicate<CrashResult> what) {
        return (int) outcomes.stream().filter(what).count();
    }

    /** All failures, one line each. */
    List<String> failures(boolean duplicatesCount) {
        return outcomes.stream()
                .flatMap(outcome -> outcome.failures(duplicatesCount).stream())
                .toList();
    }

    @Nullable
    Throwable firstProblem() {
        return outcomes.stream()
                .map(CrashResult::problem)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** The report as text. */
    public String text() {
        String head = String.format(
                Locale.ROOT,
                "crash sweep  %s   %d points   %d recovered   %d duplicated effects   %d lost runs   %.1f s",
                workflow,
                points(),
                recovered(),
                duplicatedEffects(),
                lostRuns(),
                nanos / NANOS);
        String missed = notReached() == 0
                ? ""
                : "\n  " + notReached() + " points were not reached again, so the engine did not crash there";
        return head + missed + worstGap();
    }

    /** The crash with the most calls beyond effects, where the protections prevented most duplicates. */
    private String worstGap() {
        return outcomes.stream()
                .filter(outcome -> outcome.point() != null
                        && outcome.counts().calls() > outcome.counts().effects())
                .max(Comparator.comparingInt(
                        outcome -> outcome.counts().calls() - outcome.counts().effects()))
                .map(worst -> "\n  most repeated calls: " + worst.point() + " → "
                        + worst.counts().calls() + " calls, " + worst.counts().effects() + " effects")
                .orElse("");
    }

    /** Prints {@link #text}. */
    public CrashInjectionReport report() {
        System.out.println(text());
        return this;
    }
}
