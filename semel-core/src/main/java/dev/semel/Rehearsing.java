package dev.semel;

import dev.semel.engine.Rehearsal;
import dev.semel.trigger.Rehearsed;
import dev.semel.trigger.Trigger;

/** What would become of a trigger, and nothing of it happens. */
public final class Rehearsing {
    private final Rehearsal rehearsal;

    Rehearsing(Rehearsal rehearsal) {
        this.rehearsal = rehearsal;
    }

    /** @param at a time of the store's clock; one that is over counts as now */
    public Rehearsed of(Trigger trigger, long at) {
        return rehearsal.of(trigger, at);
    }
}
