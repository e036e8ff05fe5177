package dev.semel;

import dev.semel.engine.Rehearsal;
import dev.semel.trigger.Rehearsed;
import dev.semel.trigger.Trigger;

/** Predicts what admission would decide on a trigger, without storing anything or starting a run. */
public final class Rehearsing {
    private final Rehearsal rehearsal;

    Rehearsing(Rehearsal rehearsal) {
        this.rehearsal = rehearsal;
    }

    /** @param at the time of the simulated trigger, in microseconds of the store's clock; a past time means now */
    public Rehearsed of(Trigger trigger, long at) {
        return rehearsal.of(trigger, at);
    }
}
