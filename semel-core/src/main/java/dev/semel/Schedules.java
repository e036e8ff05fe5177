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

/** Lists schedules and their ticks, pauses schedules, and backfills missed ticks. */
public final class Schedules {
    /** Maximum number of ticks in one backfill. */
    public static final int LARGEST_BACKFILL = 1_000;

    private static final int AT_ONCE = 50;

    private final Semel semel;
    private final TickDoor admission;

    Schedules(Semel semel, TickDoor admission) {
        this.semel = semel;
        this.admission = admission;
    }

    /** Schedules of a workspace, ordered by workflow and name, after the given ones. */
    public List<Rows.Schedule> page(int workspace, String afterWorkflow, String afterName, int limit) {
        return Objects.requireNonNull(
                semel.view(reads -> reads.timetable().page(workspace, afterWorkflow, afterName, limit)));
    }

    public List<Rows.Schedule> of(String workflowId) {
        return Objects.requireNonNull(semel.view(reads -> reads.timetable().of(workflowId)));
    }

    /** Null if there is no such schedule. */
    public Rows.@Nullable Schedule find(int workspace, String workflowId, String name) {
        return semel.view(reads -> reads.timetable().schedule(workspace, workflowId, name));
    }

    /** Ticks before this time in microseconds, newest first. */
    public List<Rows.Tick> ticks(String workflowId, String name, long before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.timetable().ticks(workflowId, name, before, limit)));
    }

    /** The next nominal times; works without the code of the workflow. */
    public List<Instant> next(Rows.Schedule row, int count) {
        Instant first = instant(row.nextNominal());
        return first == null
                ? List.of()
                : Schedule.read(row.name(), Json.parse(row.spec())).next(first.minusSeconds(1), count);
    }

    /** Pauses or resumes a schedule. Null if it does not exist. */
    public Rows.@Nullable Schedule pause(int workspace, Rows.Schedule row, boolean paused, String actor) {
        Edit.By by = new Edit.By(semel.newId(), actor, "");
        return semel.maybeChange(new Edit.PauseSchedule(workspace, row.workflowId(), row.name(), paused, by));
    }

    /**
     * The nominal times that a backfill covers.
     *
     * @param from start, inclusive
     * @param to end, exclusive; future ticks are never included
     */
    public record Span(Instant from, Instant to) {}

    /**
     * The result of a backfill: how many ticks it started, found already done, or had rejected.
     *
     * @param ticks the recorded ticks, with their runs
     */
    public record Backfilled(List<Rows.Tick> ticks, int started, int before, int refused) {}

    /** A backfill without a callback. */
    public Backfilled backfill(int workspace, Rows.Schedule row, Span span) {
        return backfill(workspace, row, span, () -> {});
    }

    /**
     * Starts a run for each past tick that has none, under the tick's own key: a repeated backfill starts nothing more.
     *
     * @param begin called after validation and before the first run
     */
    public Backfilled backfill(int workspace, Rows.Schedule row, Span span, Runnable begin) {
        Current current = current(workspace, row);
        Schedule schedule =
                current == null ? null : current.published().extras().doors().schedule(row.name());
        if (current == null || schedule == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Schedule \"" + row.name() + "\" no longer exists. No run was started.",
                    "List the schedules with GET /v1/schedules.");
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        List<Instant> wanted = wanted(schedule, span, Objects.requireNonNull(instant(now)));
        begin.run();
        Backfill backfill = new Backfill(row, now, wanted.isEmpty() ? 0 : micros(wanted.getLast()) + 1);
        for (int from = 0; from < wanted.size(); from += AT_ONCE) {
            List<Instant> some = wanted.subList(from, Math.min(wanted.size(), from + AT_ONCE));
            try {
                some.forEach(nominal -> backfill.fill(nominal, workspace, current, schedule));
            } finally {
                // Also if the store failed in between, so that the ticks show which runs were started.
                backfill.write();
            }
        }
        return new Backfilled(
                backfill.results, backfill.started, backfill.before, backfill.results.size() - backfill.ran);
    }

    private @Nullable Current current(int workspace, Rows.Schedule row) {
        try {
            return semel.workflow(workspace, row.workflowId());
        } catch (Catalog.NotKnownHere e) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow \"" + e.workflow()
                            + "\" is written in Java and its code is not registered in this process. No run was"
                            + " started.",
                    "Run the backfill in a process that registers the workflow.");
        }
    }

    /** A backfill in progress; it records its ticks in batches. */
    private final class Backfill {
        private final Rows.Schedule row;
        private final long now;
        private final Set<Long> done = new HashSet<>();
        private final List<Rows.Tick> results = new ArrayList<>();
        private int written;
        private int started;
        private int before;
        private int ran;

        Backfill(Rows.Schedule row, long now, long end) {
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
                Answer result = admission.admit(workspace, current, schedule, nominal);
                before += result.replayed() ? 1 : 0;
                started += result.replayed() ? 0 : 1;
                ran++;
                results.add(tick(nominal, Ticked.BACKFILLED, "", result.run()));
            } catch (SemelException e) {
                if (e.code().retryable()) {
                    throw e;
                }
                results.add(tick(nominal, Ticked.REFUSED, e.code().slug(), null));
            }
        }

        private Rows.Tick tick(Instant nominal, Ticked state, String reason, @Nullable RunId run) {
            return new Rows.Tick(row.workflowId(), row.name(), micros(nominal), state, reason, run, now, 0);
        }

        void write() {
            List<Rows.Tick> some = List.copyOf(results.subList(written, results.size()));
            written = results.size();
            if (!some.isEmpty()) {
                // CRASH(backfill-admitted): The runs are stored and their ticks are not. A repeat finds the runs.
                semel.point("backfill-admitted");
                semel.change(new Edit.NoteTicks(some));
            }
        }
    }

    private static List<Instant> wanted(Schedule schedule, Span span, Instant now) {
        if (span.from().isBefore(now.minus(TickDoor.WINDOW))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The backfill starts more than " + TickDoor.WINDOW.toDays()
                            + " days ago. The keys of such ticks have expired, so they could run twice. No run was"
                            + " started.",
                    "Use a later start. For older ticks, start runs yourself, with your own keys.");
        }
        List<Instant> wanted = new ArrayList<>();
        Instant next = schedule.after(span.from().minusNanos(1));
        while (next != null && next.isBefore(span.to()) && !next.isAfter(now)) {
            if (wanted.size() == LARGEST_BACKFILL) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The schedule has more than " + LARGEST_BACKFILL
                                + " ticks in this range. No run was started.",
                        "Use a shorter range, and run another backfill for the rest.");
            }
            wanted.add(next);
            next = schedule.after(next);
        }
        return wanted;
    }

    private static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }

    /** Converts microseconds; null for {@link Long#MAX_VALUE}, which means never. */
    public static @Nullable Instant instant(long micros) {
        return micros == Long.MAX_VALUE
                ? null
                : Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }
}
