package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.effect.Protection;
import dev.semel.workflow.EffectAction;
import org.jspecify.annotations.Nullable;

/** Finds what the lineage of a run did for an effect under once-per-key keys, even if the keys have changed. */
final class EffectHistory {
    private final Execution execution;
    private final ExecutionScope.StepState place;
    private final EffectIdentity identity;

    EffectHistory(Execution execution, ExecutionScope.StepState place, EffectIdentity identity) {
        this.execution = execution;
        this.place = place;
        this.identity = identity;
    }

    /** Whether a user requested to repeat the step, although an earlier run did it. */
    boolean isRedo() {
        return execution.journal().redoPaths().contains(place.path());
    }

    /** Returns what the lineage did under a once-per-key key, in a replay or after a resume; null if nothing. */
    EffectLedger.@Nullable EffectRow findDone() {
        if (identity.once() == null || isRedo() || LineageResults.isFirstExecution(execution.run())) {
            return null;
        }
        EffectLedger.EffectRow row = execution.readNullable(reads -> reads.effect(identity.stepRow()));
        return row == null || row.state() != EffectLedger.EffectState.DONE ? null : row;
    }

    /** Whether it is a notification that was never sent, in a replay that sends none. */
    boolean isMuted() {
        boolean notifies = identity.plan().businessRecord().does() == EffectAction.NOTIFY;
        if (!execution.journal().mutesNotifications() || !notifies || isRedo()) {
            return false;
        }
        EffectLedger.EffectRow row = execution.readNullable(reads -> reads.effect(identity.row()));
        boolean done = row != null
                && row.state() == EffectLedger.EffectState.DONE
                && row.holder().step().equals(place.stepId());
        return !done;
    }

    /**
     * Returns what this step did, or may have done, under another key than it has now; null if nothing.
     * Code computes keys from results that may differ in a replay. Repeatable effects are not searched.
     */
    EffectLedger.@Nullable EffectRow findUnderOtherKey() {
        boolean before = place.trace() != null || !LineageResults.isFirstExecution(execution.run());
        boolean loose = identity.plan().protection() instanceof Protection.Repeatable
                || identity.plan().protection() instanceof Protection.None;
        if (identity.once() == null || isRedo() || !before || loose) {
            return null;
        }
        EffectLedger.EffectRow found = null;
        for (EffectLedger.EffectId id : execution.lineageRows.findByStep(place.stepId())) {
            boolean own = id.equals(identity.row()) || id.equals(identity.stepRow());
            EffectLedger.EffectRow row = own ? null : execution.readNullable(reads -> reads.effect(id));
            if (row != null
                    && row.holder().step().equals(place.stepId())
                    && row.state() != EffectLedger.EffectState.FREE
                    && (found == null || row.state() == EffectLedger.EffectState.DONE)) {
                found = row;
            }
        }
        return found;
    }
}
