package dev.semel.runtime;

import dev.semel.engine.AdmissionDryRun;
import dev.semel.trigger.TriggerPreview;
import dev.semel.trigger.Trigger;

/** Predicts what admission would decide on a trigger, without storing anything or starting a run. */
public final class TriggerDryRun {
    private final AdmissionDryRun rehearsal;

    TriggerDryRun(AdmissionDryRun rehearsal) {
        this.rehearsal = rehearsal;
    }

    /** @param at the time of the simulated trigger, in microseconds of the store's clock; a past time means now */
    public TriggerPreview preview(Trigger trigger, long at) {
        return rehearsal.predict(trigger, at);
    }
}
