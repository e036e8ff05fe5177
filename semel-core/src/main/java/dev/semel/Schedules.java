package dev.semel;

import dev.semel.engine.TickDoor;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Ticked;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.workflow.Current;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What starts by itself: how it stands, what became of each tick, and what a person may change about it. */
public final class Schedules {
    /** A backfill is for so many ticks at most. */
    public static final int LARGEST_BACKFILL = 1_000;

    private final Semel semel;
    private final TickDoor door;

    Schedules(Semel semel, TickDoor door) {
        this.semel = semel;
        this.door = door;
    }

    /** Schedules of a workspace by workflow and name, behind these. */
    public List<Rows.Schedule> page(int workspace, String afterWorkflow, String afterName, int limit) {
        return Objects.requireNonNull(
                semel.view(reads -> reads.timetable().page(workspace, afterWorkflow, afterName, limit)));
    }

    public List<Rows.Schedule> of(String workflowId) {
        return Objects.requireNonNull(semel.view(reads -> reads.timetable().of(workflowId)));
    }

    /** Null: there is none. */
    public Rows.@Nullable Schedule find(int workspace, String workflowId, String name) {
        return semel.view(reads -> reads.timetable().schedule(workspace, workflowId, name));
    }

    /** Newest first, from those before this time in microseconds. */
    public List<Rows.Tick> ticks(String workflowId, String name, long before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.timetable().ticks(workflowId, name, before, limit)));
    }

    /** The nominal times that come next. */
    public List<Instant> next(int workspace, Rows.Schedule row, int count) {
        Current current = semel.workflow(workspace, row.workflowId());
        Schedule schedule =
                current == null ? null : current.published().extras().doors().schedule(row.name());
        Instant first = instant(row.nextNominal());
        if (schedule == null || first == null) {
            return List.of();
        }
        return schedule.next(first.minusSeconds(1), count);
    }

    /** Null: no such schedule. */
    public Rows.@Nullable Schedule pause(int workspace, Rows.Schedule row, boolean paused, String actor) {
        Edit.By by = new Edit.By(semel.newId(), actor, "");
        return semel.maybeChange(new Edit.PauseSchedule(workspace, row.workflowId(), row.name(), paused, by));
    }

    /**
     * Which ticks a backfill is for.
     *
     * @param from the first nominal time
     * @param to no tick at it or behind it, and none that is still to come
     */
    public record Span(Instant from, Instant to) {}

    /** What a backfill did: ticks that have a run by now, and how many had one before. */
    public record Backfilled(List<Rows.Tick> started, int before) {}

    /** Gives each tick of the past that has no run one, under the name it always had: asked twice it starts nothing more. */
    public Backfilled backfill(int workspace, Rows.Schedule row, Span span) {
        Current current = semel.workflow(workspace, row.workflowId());
        Schedule schedule =
                current == null ? null : current.published().extras().doors().schedule(row.name());
        if (current == null || schedule == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no schedule \"" + row.name() + "\" any more. Nothing was started.",
                    "Look at GET /v1/schedules for those there are.");
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        List<Instant> wanted = wanted(schedule, span, Objects.requireNonNull(instant(now)));
        List<Rows.Tick> done = wanted.isEmpty()
                ? List.of()
                : ticks(row.workflowId(), row.name(), micros(wanted.getLast()) + 1, LARGEST_BACKFILL * 2);
        List<Rows.Tick> started = new ArrayList<>();
        int before = 0;
        for (Instant nominal : wanted) {
            boolean ran = done.stream()
                    .anyMatch(tick ->
                            tick.nominal() == micros(nominal) && tick.state().ran());
            if (ran) {
                before++;
                continue;
            }
            Answer answer = door.admit(workspace, current, schedule, nominal);
            if (answer.replayed()) {
                before++;
            }
            started.add(new Rows.Tick(
                    row.workflowId(), row.name(), micros(nominal), Ticked.BACKFILLED, "", answer.run(), now, 0));
        }
        // CRASH(backfill-admitted): The runs are there and their ticks are not written down. A repeat finds them.
        semel.point("backfill-admitted");
        if (!started.isEmpty()) {
            semel.change(new Edit.NoteTicks(started));
        }
        return new Backfilled(started, before);
    }

    private static List<Instant> wanted(Schedule schedule, Span span, Instant now) {
        List<Instant> wanted = new ArrayList<>();
        Instant next = schedule.after(span.from().minusNanos(1));
        while (next != null && next.isBefore(span.to()) && !next.isAfter(now)) {
            if (wanted.size() == LARGEST_BACKFILL) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "Between these times the schedule has more than " + LARGEST_BACKFILL
                                + " ticks. Nothing was started.",
                        "Ask for a shorter time, and for the rest afterwards.");
            }
            wanted.add(next);
            next = schedule.after(next);
        }
        return wanted;
    }

    private static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }

    /** Null: never. */
    public static @Nullable Instant instant(long micros) {
        return micros == Long.MAX_VALUE
                ? null
                : Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }
}
