package dev.semel.engine;

import dev.semel.schedule.Schedule;
import dev.semel.schedule.Tick;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What to do with a due schedule: which ticks to skip, which one to fire, and which comes next.
 *
 * @param row the schedule as it was taken
 * @param fire the tick that gets a run; null if none does
 * @param next the next tick; null if there is none
 * @param through the end of the skipped range that the last skipped tick stands for; null if it stands for itself
 */
record TickPlan(
        Rows.Schedule row,
        Schedule schedule,
        List<Skipped> skipped,
        @Nullable Firing fire,
        @Nullable Instant next,
        @Nullable Instant through) {
    /** Number of missed ticks that are recorded one by one; the rest are recorded as one range. */
    static final int MOST_AT_ONCE = 200;

    /** A tick that gets no run, and why. */
    record Skipped(Instant nominal, Tick.Reason reason) {}

    /** The tick that gets a run, and whether it is late. */
    record Firing(Instant nominal, boolean late) {}

    static TickPlan of(Rows.Schedule row, Schedule schedule, Instant time) {
        Tick.Now now = new Tick.Now(row.workflowId(), row.paused(), row.busy(), time);
        List<Skipped> skipped = new ArrayList<>();
        Instant nominal = instant(row.nextNominal());
        while (nominal != null && skipped.size() < MOST_AT_ONCE) {
            switch (Tick.of(schedule, nominal, now)) {
                case Tick.Wait _ -> {
                    return new TickPlan(row, schedule, skipped, null, nominal, null);
                }
                case Tick.Fire fire -> {
                    Firing firing = new Firing(nominal, fire.late());
                    return new TickPlan(row, schedule, skipped, firing, schedule.after(nominal), null);
                }
                case Tick.Skip skip -> skipped.add(new Skipped(nominal, skip.reason()));
            }
            nominal = schedule.after(nominal);
        }
        Instant beyond =
                nominal == null ? null : beyond(schedule, skipped.getLast().reason(), time);
        if (nominal != null && beyond != null && beyond.isAfter(nominal)) {
            return new TickPlan(row, schedule, skipped, null, schedule.after(beyond.minusSeconds(1)), beyond);
        }
        return new TickPlan(row, schedule, skipped, null, nominal, null);
    }

    /** The time before which no tick is caught up; null if each tick must be checked. */
    private static @Nullable Instant beyond(Schedule schedule, Tick.Reason reason, Instant time) {
        Duration farBack = schedule.jitter().plus(Tick.ON_TIME);
        return switch (reason) {
            case OUTSIDE -> whole(time.minus(schedule.catchUp().within()).minus(schedule.jitter()));
            case MISSED, PAUSED -> whole(time.minus(farBack));
            case OVERLAP, NEWER, EDITED -> null;
        };
    }

    private static Instant whole(Instant time) {
        return Instant.ofEpochSecond(time.getEpochSecond());
    }

    long nextNominal() {
        return next == null ? Write.Rest.NEVER : Micros.of(next);
    }

    long nextAt() {
        return next == null ? Write.Rest.NEVER : Micros.of(schedule.firesAt(row.workflowId(), next));
    }

    /** Returns null for never. */
    static @Nullable Instant instant(long micros) {
        return micros == Write.Rest.NEVER
                ? null
                : Instant.ofEpochSecond(
                        Math.floorDiv(micros, TimeUnit.SECONDS.toMicros(1)),
                        Math.floorMod(micros, TimeUnit.SECONDS.toMicros(1)) * 1_000);
    }
}
