package dev.semel.engine.step;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds effects of a run, or of the runs that it called and waits for, that may have happened and that the engine or a
 * user will settle. Nothing acts on the deadline of the run before. An effect that is declared harmless to repeat, or
 * that its workflow continues without ({@code at_most_once}), is none of them.
 */
public final class UnknownOutcomeFinder {
    private static final Set<String> SETTLED_LATER = Set.of("provider_key", "lookup", "ask");
    /** A run has at most as many calls as recorded steps. */
    private static final int MOST_CALLS = 100_000;

    private UnknownOutcomeFinder() {}

    public static boolean hasUnknown(InMemoryRunExecutionState execution) {
        execution.awaitDurable(); // an outcome that is known is in the ledger then
        return hasUnknownEffect(execution, execution.run().id())
                || execution.awaitedRuns().stream().anyMatch(called -> hasUnknown(execution, called));
    }

    /** For a called run: the run itself, or the replay that counts instead. */
    public static boolean hasUnknown(InMemoryRunExecutionState execution, RunId called) {
        DatabaseRows.RunRow run =
                execution.readNullable(reads -> PreviousRunResultFinder.findEffectiveRun(reads, called));
        return hasUnknown(execution, run);
    }

    public static boolean hasUnknown(InMemoryRunExecutionState execution, DatabaseRows.@Nullable RunRow run) {
        if (run == null || run.end() != null) {
            return run != null && run.hasUnknownOutcome();
        }
        return hasUnknownEffect(execution, run.id())
                || execution.read(reads -> reads.children(run.id(), MOST_CALLS)).stream()
                        .anyMatch(child -> hasUnknown(execution, child));
    }

    private static boolean hasUnknownEffect(InMemoryRunExecutionState execution, RunId run) {
        return execution.read(reads -> reads.openEffects(run)).stream()
                .map(EffectLedger.EffectRow::details)
                .anyMatch(effect -> SETTLED_LATER.contains(effect.protection()));
    }
}
