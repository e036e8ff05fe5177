package dev.semel.engine.timer;

import dev.semel.run.MicrosecondConverter;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleTickDecision;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param row the schedule as it was taken
 * @param fire the tick that gets a run; null if none does
 * @param next the next tick; null if there is none
 * @param skippedThrough the end of the skipped range that the last skipped tick stands for; null if it stands for
 *     itself
 */
record ScheduleTickPlan(
        DatabaseRows.ScheduleRow row,
        Schedule schedule,
        List<Skipped> skipped,
        @Nullable Firing fire,
        @Nullable Instant next,
        @Nullable Instant skippedThrough) {
    /** Number of missed ticks that are recorded one by one; the rest are recorded as one range. */
    static final int MAX_TICKS = 200;

    record Skipped(Instant nominal, ScheduleTickDecision.SkipReason reason) {}

    record Firing(Instant nominal, boolean late) {}

    static ScheduleTickPlan of(DatabaseRows.ScheduleRow row, Schedule schedule, Instant time) {
        ScheduleTickDecision.ScheduleStatus now =
                new ScheduleTickDecision.ScheduleStatus(row.workflowId(), row.paused(), row.busy(), time);
        List<Skipped> skipped = new ArrayList<>();
        Instant nominal = instant(row.nextNominal());
        while (nominal != null && skipped.size() < MAX_TICKS) {
            switch (ScheduleTickDecision.decide(schedule, nominal, now)) {
                case ScheduleTickDecision.Wait _ -> {
                    return new ScheduleTickPlan(row, schedule, skipped, null, nominal, null);
                }
                case ScheduleTickDecision.Fire fire -> {
                    Firing firing = new Firing(nominal, fire.late());
                    return new ScheduleTickPlan(row, schedule, skipped, firing, schedule.nextAfter(nominal), null);
                }
                case ScheduleTickDecision.Skip skip -> skipped.add(new Skipped(nominal, skip.reason()));
            }
            nominal = schedule.nextAfter(nominal);
        }
        Instant beyond =
                nominal == null ? null : beyond(schedule, skipped.getLast().reason(), time);
        if (nominal != null && beyond != null && beyond.isAfter(nominal)) {
            return new ScheduleTickPlan(
                    row, schedule, skipped, null, schedule.nextAfter(beyond.minusSeconds(1)), beyond);
        }
        return new ScheduleTickPlan(row, schedule, skipped, null, nominal, null);
    }

    /** The time before which no tick is caught up; null if each tick must be checked. */
    private static @Nullable Instant beyond(Schedule schedule, ScheduleTickDecision.SkipReason reason, Instant time) {
        Duration farBack = schedule.jitter().plus(ScheduleTickDecision.ON_TIME);
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
        return next == null ? StoreWrite.Suspension.NEVER : MicrosecondConverter.of(next);
    }

    long nextAt() {
        return next == null
                ? StoreWrite.Suspension.NEVER
                : MicrosecondConverter.of(schedule.firesAt(row.workflowId(), next));
    }

    /** Returns null for never. */
    static @Nullable Instant instant(long micros) {
        return micros == StoreWrite.Suspension.NEVER ? null : MicrosecondConverter.toInstant(micros);
    }
}
