package dev.semel.workflow;

import dev.semel.json.JsonCodec;
import dev.semel.schedule.CronRule;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleRule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A schedule of a workflow with its options. Immutable.
 * Default: Semel skips a tick while the run of an earlier tick has not ended, and catches up the last missed tick within
 * one hour.
 */
public final class ScheduleOptions {
    private final Schedule schedule;

    private ScheduleOptions(Schedule schedule) {
        this.schedule = schedule;
    }

    /** A cron schedule in a time zone, for example {@code cron("30 2 * * *", zone)}. */
    public static ScheduleOptions cron(String expression, ZoneId zone) {
        return of(CronRule.of(expression, zone));
    }

    /** A fixed interval, counted from 1970-01-01T00:00:00Z. */
    public static ScheduleOptions every(Duration interval) {
        return of(new IntervalRule(interval, Instant.EPOCH));
    }

    private static ScheduleOptions of(ScheduleRule rule) {
        return new ScheduleOptions(Schedule.of("unnamed", rule));
    }

    /** No tick before {@code start}, and none at or after {@code end}; null for no limit. */
    public ScheduleOptions between(@Nullable Instant start, @Nullable Instant end) {
        return with(start, end, schedule.overlap(), schedule.catchUp(), schedule.jitter(), schedule.input());
    }

    /** Starts the runs of ticks one after another. */
    public ScheduleOptions queueOverlapping() {
        return overlap(Schedule.OverlapPolicy.QUEUE);
    }

    /** Starts a run for each tick, also while earlier runs have not ended. */
    public ScheduleOptions allowOverlapping() {
        return overlap(Schedule.OverlapPolicy.ALLOW);
    }

    /** Starts a run for every tick that was missed within this time; at most 30 days. */
    public ScheduleOptions catchUpAll(Duration within) {
        return catchUp(new Schedule.CatchUpPolicy(Schedule.CatchUpMode.ALL, within));
    }

    /** Starts one run for the last tick that was missed within this time; at most 30 days. */
    public ScheduleOptions catchUpLast(Duration within) {
        return catchUp(new Schedule.CatchUpPolicy(Schedule.CatchUpMode.LAST, within));
    }

    /** Skips missed ticks. */
    public ScheduleOptions noCatchUp() {
        return catchUp(new Schedule.CatchUpPolicy(Schedule.CatchUpMode.NONE, Duration.ZERO));
    }

    /** Starts each tick up to this much later, by an amount that is fixed for each tick; at most 1 hour. */
    public ScheduleOptions jitter(Duration longest) {
        return with(
                schedule.start(), schedule.end(), schedule.overlap(), schedule.catchUp(), longest, schedule.input());
    }

    /** The input of the runs, an object; Semel adds {@code scheduled_at}, the nominal time. Default: empty. */
    public ScheduleOptions input(Object value) {
        JsonNode data = JsonCodec.STANDARD.write(value, "the input of a schedule");
        if (!data.isObject()) {
            throw new IllegalArgumentException("the input of a schedule must be written as a JSON object");
        }
        return with(schedule.start(), schedule.end(), schedule.overlap(), schedule.catchUp(), schedule.jitter(), data);
    }

    Schedule build(String name) {
        return named(
                name,
                schedule.start(),
                schedule.end(),
                schedule.overlap(),
                schedule.catchUp(),
                schedule.jitter(),
                schedule.input());
    }

    private ScheduleOptions overlap(Schedule.OverlapPolicy value) {
        return with(schedule.start(), schedule.end(), value, schedule.catchUp(), schedule.jitter(), schedule.input());
    }

    private ScheduleOptions catchUp(Schedule.CatchUpPolicy value) {
        return with(schedule.start(), schedule.end(), schedule.overlap(), value, schedule.jitter(), schedule.input());
    }

    private ScheduleOptions with(
            @Nullable Instant start,
            @Nullable Instant end,
            Schedule.OverlapPolicy overlap,
            Schedule.CatchUpPolicy catchUp,
            Duration jitter,
            JsonNode input) {
        return new ScheduleOptions(named(schedule.name(), start, end, overlap, catchUp, jitter, input));
    }

    private Schedule named(
            String name,
            @Nullable Instant start,
            @Nullable Instant end,
            Schedule.OverlapPolicy overlap,
            Schedule.CatchUpPolicy catchUp,
            Duration jitter,
            JsonNode input) {
        return new Schedule(name, schedule.rule(), start, end, overlap, catchUp, jitter, input);
    }
}
