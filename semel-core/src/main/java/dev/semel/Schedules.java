package dev.semel;

import dev.semel.engine.Catalog;
import dev.semel.engine.TickDoor;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Ticked;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.workflow.Current;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What starts by itself: how it stands, what became of each tick, and what a person may change about it. */
public final class Schedules {
    /** A backfill is for so many ticks at most. */
    public static final int LARGEST_BACKFILL = 1_000;

    private static final int AT_ONCE = 50;

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

    /** The nominal times that come next, also where the code of the workflow is elsewhere. */
    public List<Instant> next(Rows.Schedule row, int count) {
        Instant first = instant(row.nextNominal());
        return first == null
                ? List.of()
                : Schedule.read(row.name(), Json.parse(row.spec())).next(first.minusSeconds(1), count);
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

    /**
     * What a backfill did with the ticks it was asked for: each is started, was done before, or is refused.
     *
     * @param ticks those that were written down, with the runs that they have by now
     */
    public record Backfilled(List<Rows.Tick> ticks, int started, int before, int refused) {}

    /** A backfill that nobody has to be told of. */
    public Backfilled backfill(int workspace, Rows.Schedule row, Span span) {
        return backfill(workspace, row, span, () -> {});
    }

    /**
     * Gives each tick of the past that has no run one, under the name it always had: asked twice it starts nothing more.
     *
     * @param begin called once it is certain that it is not refused, before the first run
     */
    public Backfilled backfill(int workspace, Rows.Schedule row, Span span, Runnable begin) {
        Current current = current(workspace, row);
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
        begin.run();
        Filling filling = new Filling(row, now, wanted.isEmpty() ? 0 : micros(wanted.getLast()) + 1);
        for (int from = 0; from < wanted.size(); from += AT_ONCE) {
            List<Instant> some = wanted.subList(from, Math.min(wanted.size(), from + AT_ONCE));
            try {
                some.forEach(nominal -> filling.fill(nominal, workspace, current, schedule));
            } finally {
                // Also where the store fell silent in between: who looks at the ledger sees what was started.
                filling.write();
            }
        }
        return new Backfilled(filling.told, filling.started, filling.before, filling.told.size() - filling.ran);
    }

    private @Nullable Current current(int workspace, Rows.Schedule row) {
        try {
            return semel.workflow(workspace, row.workflowId());
        } catch (Catalog.NotKnownHere e) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow \"" + e.workflow()
                            + "\" is written in Java, and its code is not in this process. Nothing was" + " started.",
                    "Ask for the backfill in a process that has registered the workflow.");
        }
    }

    /** A backfill on its way. Its ticks are written down some at a time. */
    private final class Filling {
        private final Rows.Schedule row;
        private final long now;
        private final Set<Long> done = new HashSet<>();
        private final List<Rows.Tick> told = new ArrayList<>();
        private int written;
        private int started;
        private int before;
        private int ran;

        Filling(Rows.Schedule row, long now, long end) {
            this.row = row;
            this.now = now;
            ticks(row.workflowId(), row.name(), end, LARGEST_BACKFILL * 2).stream()
                    .filter(tick -> tick.state().ran())
                    .forEach(tick -> done.add(tick.nominal()));
        }

        void fill(Instant nominal, int workspace, Current current, Schedule schedule) {
            if (done.contains(micros(nominal))) {
                before++;
                return;
            }
            try {
                Answer answer = door.admit(workspace, current, schedule, nominal);
                before += answer.replayed() ? 1 : 0;
                started += answer.replayed() ? 0 : 1;
                ran++;
                told.add(tick(nominal, Ticked.BACKFILLED, "", answer.run()));
            } catch (SemelException e) {
                if (e.code().retryable()) {
                    throw e;
                }
                told.add(tick(nominal, Ticked.REFUSED, e.code().slug(), null));
            }
        }

        private Rows.Tick tick(Instant nominal, Ticked state, String reason, @Nullable RunId run) {
            return new Rows.Tick(row.workflowId(), row.name(), micros(nominal), state, reason, run, now, 0);
        }

        void write() {
            List<Rows.Tick> some = List.copyOf(told.subList(written, told.size()));
            written = told.size();
            if (!some.isEmpty()) {
                // CRASH(backfill-admitted): Runs are there and their ticks are not written down. A repeat finds them.
                semel.point("backfill-admitted");
                semel.change(new Edit.NoteTicks(some));
            }
        }
    }

    private static List<Instant> wanted(Schedule schedule, Span span, Instant now) {
        if (span.from().isBefore(now.minus(TickDoor.WINDOW))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The backfill begins more than " + TickDoor.WINDOW.toDays()
                            + " days ago. Whether such a tick had its run is not known any more, so it would run again."
                            + " Nothing was started.",
                    "Begin later; for what is older start runs by hand, with keys of your own.");
        }
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
