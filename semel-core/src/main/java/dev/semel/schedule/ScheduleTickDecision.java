package dev.semel.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** The decision on one tick of a schedule: wait, fire or skip. It depends only on the schedule and the current time. */
public sealed interface ScheduleTickDecision {
    /** A tick that is this late still counts as on time: a worker was busy, not absent. */
    Duration ON_TIME = Duration.ofSeconds(10);

    record Wait(Instant until) implements ScheduleTickDecision {}

    /** @param late no worker ran when it was due, and it is caught up */
    record Fire(boolean late) implements ScheduleTickDecision {}

    record Skip(SkipReason reason) implements ScheduleTickDecision {}

    /** Why a tick has no run. The words are stored. */
    enum SkipReason {
        /** The run of an earlier tick had not ended. */
        OVERLAP,
        PAUSED,
        /** No worker ran when it was due, and the catch-up window has passed. */
        OUTSIDE,
        /** No worker ran when it was due, and only a newer tick is caught up. */
        NEWER,
        /** No worker ran when it was due, and missed ticks are not caught up. */
        MISSED,
        /** The schedule was edited before it fired. */
        EDITED;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** @param busy the run of its last tick has not ended */
    record ScheduleStatus(String workflowId, boolean paused, boolean busy, Instant time) {}

    static ScheduleTickDecision decide(Schedule schedule, Instant nominal, ScheduleStatus now) {
        Instant fires = schedule.firesAt(now.workflowId(), nominal);
        if (fires.isAfter(now.time())) {
            return new Wait(fires);
        }
        if (now.paused()) {
            return new Skip(SkipReason.PAUSED);
        }
        Duration late = Duration.between(fires, now.time());
        boolean onTime = late.compareTo(ON_TIME) <= 0;
        if (!onTime) {
            Schedule.CatchUpPolicy catchUp = schedule.catchUp();
            if (catchUp.mode() == Schedule.CatchUpMode.NONE) {
                return new Skip(SkipReason.MISSED);
            }
            if (late.compareTo(catchUp.within()) > 0) {
                return new Skip(SkipReason.OUTSIDE);
            }
            Instant next = schedule.nextAfter(nominal);
            boolean newer =
                    next != null && !schedule.firesAt(now.workflowId(), next).isAfter(now.time());
            if (catchUp.mode() == Schedule.CatchUpMode.LAST && newer) {
                return new Skip(SkipReason.NEWER);
            }
        }
        if (now.busy() && schedule.overlap() == Schedule.OverlapPolicy.SKIP) {
            return new Skip(SkipReason.OVERLAP);
        }
        return new Fire(!onTime);
    }
}
