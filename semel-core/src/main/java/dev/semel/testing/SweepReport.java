package dev.semel.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a crash sweep found.
 *
 * @param workflow the names of the workflows
 * @param outcomes the calm one first, then one for each crash point
 */
public record SweepReport(String workflow, List<Outcome> outcomes, long nanos) {
    private static final double NANOS = 1e9;

    public SweepReport {
        outcomes = List.copyOf(outcomes);
    }

    /**
     * One world.
     *
     * @param point where the engine died; null for the calm world, where none did
     * @param reached whether it came to that point this time; batches do not always fall alike
     * @param lost runs that a caller was told of and that will not go on, each with the reason
     * @param problem what the check or the scenario said, or null
     */
    public record Outcome(
            @Nullable CrashPoint point,
            boolean reached,
            Tally tally,
            List<String> lost,
            @Nullable Throwable problem) {
        public Outcome {
            lost = List.copyOf(lost);
        }

        boolean isRecovered() {
            return point != null && reached && problem == null && lost.isEmpty();
        }

        private String place() {
            return point == null ? "without a crash" : "at " + point;
        }

        /** Each thing that went wrong, with the place and how to try it alone. */
        private List<String> failures(boolean duplicatesCount) {
            List<String> all = new ArrayList<>();
            if (problem != null) {
                all.add(problem.getClass().getSimpleName() + ": " + problem.getMessage());
            }
            lost.forEach(run -> all.add("lost run " + run));
            if (duplicatesCount && tally.duplicated() > 0) {
                all.add(tally.duplicated() + " duplicated effects (" + tally.calls() + " calls, " + tally.effects()
                        + " effects)");
            }
            String again =
                    point == null ? "" : ". Try it alone: lab.crashAt(\"" + point.label() + "\", " + point.pass() + ")";
            return all.stream()
                    .map(what -> "  " + place() + ": " + what + again)
                    .toList();
        }
    }

    /**
     * What all providers counted together.
     *
     * @param duplicated deeds done again under the same key, and different deeds beyond those of the calm world
     */
    public record Tally(int calls, int effects, int duplicated) {}

    public int points() {
        return count(outcome -> outcome.point() != null);
    }

    /** Crashes after which everything went on as it should. */
    public int recovered() {
        return count(Outcome::isRecovered);
    }

    /** Crashes that did not happen, because the engine did not come to their point again. */
    public int notReached() {
        return count(outcome -> !outcome.reached());
    }

    public int duplicatedEffects() {
        return outcomes.stream()
                .mapToInt(outcome -> outcome.tally().duplicated())
                .sum();
    }

    public int lostRuns() {
        return outcomes.stream().mapToInt(outcome -> outcome.lost().size()).sum();
    }

    private int count(Predicate<Outcome> what) {
        return (int) outcomes.stream().filter(what).count();
    }

    /** Everything that went wrong, one line each; empty where nothing did. */
    List<String> failures(boolean duplicatesCount) {
        return outcomes.stream()
                .flatMap(outcome -> outcome.failures(duplicatesCount).stream())
                .toList();
    }

    @Nullable
    Throwable firstProblem() {
        return outcomes.stream()
                .map(Outcome::problem)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Two lines for people. */
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
        String missed = notReached() == 0 ? "" : "\n  " + notReached() + " points were not reached a second time";
        return head + missed + worstGap();
    }

    /** Where most calls were made beyond the effects: the crash that the protections had most to do with. */
    private String worstGap() {
        return outcomes.stream()
                .filter(outcome -> outcome.point() != null
                        && outcome.tally().calls() > outcome.tally().effects())
                .max(Comparator.comparingInt(
                        outcome -> outcome.tally().calls() - outcome.tally().effects()))
                .map(worst -> "\n  worst gap: " + worst.point() + " → "
                        + worst.tally().calls() + " calls, " + worst.tally().effects() + " effects")
                .orElse("");
    }

    /** Prints {@link #text}. */
    public SweepReport report() {
        System.out.println(text());
        return this;
    }
}
