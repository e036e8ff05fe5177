package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Protection;
import dev.semel.workflow.EffectPlan;
import org.jspecify.annotations.Nullable;

/** What the line of a run has on record of an effect under keys across runs, whatever became of those keys. */
final class StepPast {
    private final Execution execution;
    private final Scope.Place place;
    private final EffectName name;

    StepPast(Execution execution, Scope.Place place, EffectName name) {
        this.execution = execution;
        this.place = place;
        this.name = name;
    }

    /** Whether a person wants it done again, although an earlier run has done it. */
    boolean afresh() {
        return execution.memory().redo().contains(place.path());
    }

    /** In a safe replay, or after going on in place: what the lineage did under a key across runs; null where it did nothing. */
    Ledger.@Nullable Row done() {
        if (name.once() == null || afresh() || Earlier.isFirst(execution.run())) {
            return null;
        }
        Ledger.Row row = execution.maybe(reads -> reads.effect(name.stepRow()));
        return row == null || row.state() != Ledger.State.DONE ? null : row;
    }

    /** Whether it is a notification that nobody sent so far, of a replay that is to send none. */
    boolean isSilent() {
        boolean notifies = name.plan().marks().does() == EffectPlan.Does.NOTIFY;
        if (!execution.memory().isQuiet() || !notifies || afresh()) {
            return false;
        }
        Ledger.Row row = execution.maybe(reads -> reads.effect(name.row()));
        boolean done = row != null
                && row.state() == Ledger.State.DONE
                && row.holder().step().equals(place.stepId());
        return !done;
    }

    /**
     * What this step did, or may have done, under another key across runs than it has now; null where it did nothing. A key
     * is made by code, of results that may be made anew. What may always be sent again is not looked for.
     */
    Ledger.@Nullable Row underAnotherKey() {
        boolean before = place.trace() != null || !Earlier.isFirst(execution.run());
        boolean loose = name.plan().protection() instanceof Protection.Repeatable
                || name.plan().protection() instanceof Protection.None;
        if (name.once() == null || afresh() || !before || loose) {
            return null;
        }
        Ledger.Row found = null;
        for (Ledger.Id id : execution.line.of(place.stepId())) {
            boolean own = id.equals(name.row()) || id.equals(name.stepRow());
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
