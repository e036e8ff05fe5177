package dev.semel.run;

import static dev.semel.run.RunState.CANCELLED;
import static dev.semel.run.RunState.COMPLETED;
import static dev.semel.run.RunState.FAILED;
import static dev.semel.run.RunState.IN_DOUBT;
import static dev.semel.run.RunState.QUEUED;
import static dev.semel.run.RunState.RUNNING;
import static dev.semel.run.RunState.STARTED;
import static dev.semel.run.RunState.WAITING;

import java.util.EnumSet;
import java.util.Set;

/**
 * Every legal move of a run, in one place. A run is admitted as `queued` (it must wait) or `started`; `running` begins
 * with its first step; an ended run never moves again. A safe replay is a new run, and a run that goes on in place has its
 * end taken back first: it enters anew, as `queued` or `running`.
 */
public final class RunTransitions {
    private RunTransitions() {}

    /** What a run in this state may become next. */
    public static Set<RunState> from(RunState state) {
        return switch (state) {
            case QUEUED -> EnumSet.of(STARTED, CANCELLED);
            case STARTED -> EnumSet.of(RUNNING, WAITING, COMPLETED, FAILED, CANCELLED);
            case RUNNING -> EnumSet.of(WAITING, IN_DOUBT, COMPLETED, FAILED, CANCELLED);
            case WAITING -> EnumSet.of(RUNNING, FAILED, CANCELLED);
            case IN_DOUBT -> EnumSet.of(RUNNING, FAILED, CANCELLED);
            case COMPLETED, FAILED, CANCELLED -> EnumSet.noneOf(RunState.class);
        };
    }

    public static boolean legal(RunState from, RunState to) {
        return from(from).contains(to);
    }

    /** Refuses an illegal move; a caller that asks for one has a bug. */
    public static RunState move(RunState from, RunState to) {
        if (!legal(from, to)) {
            throw new IllegalStateException("a run cannot go from " + from.word() + " to " + to.word());
        }
        return to;
    }

    /** The states in which a trigger may create a run. */
    public static Set<RunState> initial() {
        return EnumSet.of(QUEUED, STARTED);
    }
}
