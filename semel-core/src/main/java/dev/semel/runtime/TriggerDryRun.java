package dev.semel.runtime;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerPreview;
import dev.semel.engine.admission.TriggerAdmissionPredictor;

public final class TriggerDryRun {
    private final TriggerAdmissionPredictor rehearsal;

    TriggerDryRun(TriggerAdmissionPredictor rehearsal) {
        this.rehearsal = rehearsal;
    }

    /** @param at the time of the simulated trigger, in microseconds of the store's clock; a past time means now */
    public TriggerPreview preview(Trigger trigger, long at) {
        return rehearsal.predict(trigger, at);
    }
}
