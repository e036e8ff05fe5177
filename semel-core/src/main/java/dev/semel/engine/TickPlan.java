package dev.semel.engine;

import dev.semel.schedule.Schedule;
import dev.semel.schedule.TickDecision;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
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
 * @param skippedThrough the end of the skipped range that the last skipped tick stands for; null if it stands for itself
 */
record TickPlan(
        StoredRows.ScheduleRow row,
        Schedule schedule,
        List<Skipped> skipped,
        @Nullable Firing fire,
        @Nullable Instant next,
        @Nullable Instant skippedThrough) {
    /** Number of missed ticks that are recorded one by one; the rest are recorded as one range. */
    static final int MAX_TICKS = 200;

    /** A tick that gets no run, and why. */
    record Skipped(Instant nominal, TickDecision.SkipReason reason) {}

    /** The tick that gets a run, and whether it is late. */
    record Firing(Instant nominal, boolean late) {}

    static TickPlan of(StoredRows.ScheduleRow row, Schedule schedule, Instant time) {
        TickDecision.ScheduleStatus now =
                new TickDecision.ScheduleStatus(row.workflowId(), row.paused(), row.busy(), time);
        List<Skipped> skipped = new ArrayList<>();
        Instant nominal = instant(row.nextNominal());
        while (nominal != null && skipped.size() < MAX_TICKS) {
            switch (TickDecision.decide(schedule, nominal, now)) {
                case TickDecision.Wait _ -> {
                    return new TickPlan(row, schedule, skipped, null, nominal, null);
                }
                case TickDecision.Fire fire -> {
                    Firing firing = new Firing(nominal, fire.late());
                    return new TickPlan(row, schedule, skipped, firing, schedule.nextAfter(nominal), null);
                }
                case TickDecision.Skip skip -> skipped.add(new Skipped(nominal, skip.reason()));
            }
            nominal = schedule.nextAfter(nominal);
        }
        Instant beyond =
                nominal == null ? null : beyond(schedule, skipped.getLast().reason(), time);
        if (nominal != null && beyond != null && beyond.isAfter(nominal)) {
            return new TickPlan(row, schedule, skipped, null, schedule.nextAfter(beyond.minusSeconds(1)), beyond);
        }
        return new TickPlan(row, schedule, skipped, null, nominal, null);
    }

    /** The time before which no tick is caught up; null if each tick must be checked. */
    private static @Nullable Instant beyond(Schedule schedule, TickDecision.SkipReason reason, Instant time) {
        Duration farBack = schedule.jitter().plus(TickDecision.ON_TIME);
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
        return next == null ? StoreWrite.Suspension.NEVER : Micros.of(next);
    }

    long nextAt() {
        return next == null ? StoreWrite.Suspension.NEVER : Micros.of(schedule.firesAt(row.workflowId(), next));
    }

    /** Returns null for never. */
    static @Nullable Instant instant(long micros) {
        return micros == StoreWrite.Suspension.NEVER
                ? null
                : Instant.ofEpochSecond(
                        Math.floorDiv(micros, TimeUnit.SECONDS.toMicros(1)),
                        Math.floorMod(micros, TimeUnit.SECONDS.toMicros(1)) * 1_000);
    }
}
