package dev.semel.run;

import static dev.semel.run.RunState.CANCELLED;
import static dev.semel.run.RunState.COMPLETED;
import static dev.semel.run.RunState.FAILED;
import static dev.semel.run.RunState.HELD;
import static dev.semel.run.RunState.IN_DOUBT;
import static dev.semel.run.RunState.QUEUED;
import static dev.semel.run.RunState.RUNNING;
import static dev.semel.run.RunState.STARTED;
import static dev.semel.run.RunState.WAITING;

import java.util.EnumSet;
import java.util.Set;

/**
 * The legal status transitions of a run. Admission creates it as `queued` (it must wait) or `started`.
 * `running` begins with the first step; an ended run never changes. A safe replay is a new run. A resumed run has its
 * end removed first and enters again as `queued` or `running`.
 */
public final class RunStateTransitions {
    private RunStateTransitions() {}

    public static Set<RunState> allowedFrom(RunState state) {
        return switch (state) {
            case QUEUED -> EnumSet.of(STARTED, CANCELLED);
            case STARTED -> EnumSet.of(RUNNING, WAITING, HELD, COMPLETED, FAILED, CANCELLED);
            case RUNNING -> EnumSet.of(WAITING, IN_DOUBT, HELD, COMPLETED, FAILED, CANCELLED);
            case WAITING, IN_DOUBT, HELD -> EnumSet.of(RUNNING, FAILED, CANCELLED);
            case COMPLETED, FAILED, CANCELLED -> EnumSet.noneOf(RunState.class);
        };
    }

    public static boolean isLegal(RunState from, RunState to) {
        return allowedFrom(from).contains(to);
    }

    /** Throws for an illegal transition, which is a bug of the caller. */
    public static RunState checkMove(RunState from, RunState to) {
        if (!isLegal(from, to)) {
            throw new IllegalStateException("a run cannot change from " + from.wireName() + " to " + to.wireName());
        }
        return to;
    }

    /** The statuses in which admission may create a run. */
    public static Set<RunState> initial() {
        return EnumSet.of(QUEUED, STARTED);
    }
}
