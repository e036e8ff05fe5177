package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Protection;
import dev.semel.workflow.EffectPlan;
import org.jspecify.annotations.Nullable;

/** Finds what the lineage of a run did for an effect under once-per-key keys, even if the keys have changed. */
final class StepPast {
    private final Execution execution;
    private final Scope.Place place;
    private final EffectName identity;

    StepPast(Execution execution, Scope.Place place, EffectName identity) {
        this.execution = execution;
        this.place = place;
        this.identity = identity;
    }

    /** Whether a user requested to repeat the step, although an earlier run did it. */
    boolean afresh() {
        return execution.memory().redo().contains(place.path());
    }

    /** Returns what the lineage did under a once-per-key key, in a replay or after a resume; null if nothing. */
    Ledger.@Nullable Row done() {
        if (identity.once() == null || afresh() || Earlier.isFirst(execution.run())) {
            return null;
        }
        Ledger.Row row = execution.maybe(reads -> reads.effect(identity.stepRow()));
        return row == null || row.state() != Ledger.State.DONE ? null : row;
    }

    /** Whether it is a notification that was never sent, in a replay that sends none. */
    boolean isSilent() {
        boolean notifies = identity.plan().marks().does() == EffectPlan.Does.NOTIFY;
        if (!execution.memory().isQuiet() || !notifies || afresh()) {
            return false;
        }
        Ledger.Row row = execution.maybe(reads -> reads.effect(identity.row()));
        boolean done = row != null
                && row.state() == Ledger.State.DONE
                && row.holder().step().equals(place.stepId());
        return !done;
    }

    /**
     * Returns what this step did, or may have done, under another key than it has now; null if nothing.
     * Code computes keys from results that may differ in a replay. Repeatable effects are not searched.
     */
    Ledger.@Nullable Row underAnotherKey() {
        boolean before = place.trace() != null || !Earlier.isFirst(execution.run());
        boolean loose = identity.plan().protection() instanceof Protection.Repeatable
                || identity.plan().protection() instanceof Protection.None;
        if (identity.once() == null || afresh() || !before || loose) {
            return null;
        }
        Ledger.Row found = null;
        for (Ledger.Id id : execution.line.of(place.stepId())) {
            boolean own = id.equals(identity.row()) || id.equals(identity.stepRow());
            Ledger.Row row = own ? null : execution.maybe(reads -> reads.effect(id));
            if (row != null
                    && row.holder().step().equals(place.stepId())
                    && row.state() != Ledger.State.FREE
                    && (found == null || row.state() == Ledger.State.DONE)) {
                found = row;
            }
        }
        return found;
    }
}
