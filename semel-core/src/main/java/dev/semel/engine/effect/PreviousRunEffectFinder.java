package dev.semel.engine.effect;

import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.workflow.EffectOperation;
import org.jspecify.annotations.Nullable;

/** Finds what the lineage of a run did for an effect under once-per-key keys, even if the keys have changed. */
final class PreviousRunEffectFinder {
    private final InMemoryRunExecutionState execution;
    private final StepJournalMatcher.StepState state;
    private final EffectIdentity identity;

    PreviousRunEffectFinder(
            InMemoryRunExecutionState execution, StepJournalMatcher.StepState state, EffectIdentity identity) {
        this.execution = execution;
        this.state = state;
        this.identity = identity;
    }

    /** Whether a user requested to repeat the step, although an earlier run did it. */
    boolean isRedo() {
        return execution.journal().redoPaths().contains(state.path());
    }

    /** Returns what the lineage did under a once-per-key key, in a replay or after a resume; null if nothing. */
    EffectLedger.@Nullable EffectRow findDone() {
        if (identity.once() == null || isRedo() || PreviousRunResultFinder.isFirstExecution(execution.run())) {
            return null;
        }
        EffectLedger.EffectRow row = execution.readNullable(reads -> reads.effect(identity.stepRow()));
        return row == null || row.state() != EffectLedger.EffectState.DONE ? null : row;
    }

    /** Whether it is a notification that was never sent, in a replay that sends none. */
    boolean isMuted() {
        boolean notifies = identity.plan().businessRecord().does() == EffectOperation.NOTIFY;
        if (!execution.journal().mutesNotifications() || !notifies || isRedo()) {
            return false;
        }
        EffectLedger.EffectRow row = execution.readNullable(reads -> reads.effect(identity.row()));
        boolean done = row != null
                && row.state() == EffectLedger.EffectState.DONE
                && row.holder().step().equals(state.stepId());
        return !done;
    }

    /**
     * Returns what this step did, or may have done, under another key than it has now; null if nothing.
     * Code computes keys from results that may differ in a replay. Repeatable effects are not searched.
     */
    EffectLedger.@Nullable EffectRow findUnderOtherKey() {
        boolean before = state.trace() != null || !PreviousRunResultFinder.isFirstExecution(execution.run());
        boolean loose = identity.plan().protection() instanceof EffectDuplicateProtection.Repeatable
                || identity.plan().protection() instanceof EffectDuplicateProtection.None;
        if (identity.once() == null || isRedo() || !before || loose) {
            return null;
        }
        EffectLedger.EffectRow found = null;
        for (EffectLedger.EffectId id : execution.lineageRows.findByStep(state.stepId())) {
            boolean own = id.equals(identity.row()) || id.equals(identity.stepRow());
            EffectLedger.EffectRow row = own ? null : execution.readNullable(reads -> reads.effect(id));
            if (row != null
                    && row.holder().step().equals(state.stepId())
                    && row.state() != EffectLedger.EffectState.FREE
                    && (found == null || row.state() == EffectLedger.EffectState.DONE)) {
                found = row;
            }
        }
        return found;
    }
}
