package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.RunTransitions;
import dev.semel.store.Write;
import org.jspecify.annotations.Nullable;

/**
 * An unfinished run. To change one, take a {@link #copy}, set what is new, and put it back: a row that is in the table
 * stays as it is.
 */
final class Work {
    final RunId run;
    final String workflowId;

    @Nullable
    Long owner;

    int claims;
    private RunState state;
    boolean held;
    long due;

    @Nullable
    String waits;

    boolean cancel;
    int falls;
    boolean fell;
    Gated gated = Gated.NO;

    /** Whether the run goes through queues. The order is that of the codes in the other stores. */
    enum Gated {
        NO,
        HAS_ITS_PLACES,
        WAITS_FOR_ONE
    }

    Work(RunId run, String workflowId, RunState state) {
        this.run = run;
        this.workflowId = workflowId;
        this.state = state;
    }

    RunState state() {
        return state;
    }

    /** Before anybody saw it. */
    void admitAs(RunState initial) {
        state = initial;
    }

    /** Only a legal move; the other stores are held to this one by comparison. */
    void move(RunState to) {
        // An end is refused by the table itself, as the other stores refuse it.
        state = to == state || to.ended() ? to : RunTransitions.move(state, to);
    }

    Work copy() {
        Work copy = new Work(run, workflowId, state);
        copy.owner = owner;
        copy.claims = claims;
        copy.held = held;
        copy.due = due;
        copy.waits = waits;
        copy.cancel = cancel;
        copy.falls = falls;
        copy.fell = fell;
        copy.gated = gated;
        return copy;
    }

    boolean free() {
        return owner == null && !held;
    }

    boolean drivenBy(Write.Driver driver, long lease) {
        return owner != null && owner == lease && claims == driver.claim();
    }

    /** Held by a pause, or by a trigger that believed in one. */
    boolean paused() {
        return held && gated != Gated.WAITS_FOR_ONE;
    }
}
