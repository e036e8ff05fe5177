package dev.semel.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** What becomes of one nominal time, decided from nothing but the schedule and the time it is now. */
public sealed interface Tick {
    /** So late a tick may be and still count as on time: a worker was busy, nobody was away. */
    Duration ON_TIME = Duration.ofSeconds(10);

    /** Not yet. */
    record Wait(Instant until) implements Tick {}

    /** @param late somebody was away, and it is made up for */
    record Fire(boolean late) implements Tick {}

    record Skip(Reason reason) implements Tick {}

    /** Why a tick had no run. The words are stored. */
    enum Reason {
        /** The run of an earlier tick had not ended. */
        OVERLAP,
        PAUSED,
        /** Nobody was there when it was due, and it is too late by now. */
        OUTSIDE,
        /** Nobody was there when it was due, and a newer tick is made up for in its place. */
        NEWER,
        /** Nobody was there when it was due, and missed ticks are not made up for. */
        MISSED,
        /** The schedule was changed before it fired. */
        EDITED;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * How a schedule stands.
     *
     * @param busy the run of its last tick has not ended
     */
    record Now(String workflowId, boolean paused, boolean busy, Instant time) {}

    static Tick of(Schedule schedule, Instant nominal, Now now) {
        Instant fires = schedule.firesAt(now.workflowId(), nominal);
        if (fires.isAfter(now.time())) {
            return new Wait(fires);
        }
        if (now.paused()) {
            return new Skip(Reason.PAUSED);
        }
        Duration late = Duration.between(fires, now.time());
        boolean onTime = late.compareTo(ON_TIME) <= 0;
        if (!onTime) {
            Schedule.CatchUp catchUp = schedule.catchUp();
            if (catchUp.mode() == Schedule.Mode.NONE) {
                return new Skip(Reason.MISSED);
            }
            if (late.compareTo(catchUp.within()) > 0) {
                return new Skip(Reason.OUTSIDE);
            }
            Instant next = schedule.after(nominal);
            boolean newer =
                    next != null && !schedule.firesAt(now.workflowId(), next).isAfter(now.time());
            if (catchUp.mode() == Schedule.Mode.LAST && newer) {
                return new Skip(Reason.NEWER);
            }
        }
        if (now.busy() && schedule.overlap() == Schedule.Overlap.SKIP) {
            return new Skip(Reason.OVERLAP);
        }
        return new Fire(!onTime);
    }
}
