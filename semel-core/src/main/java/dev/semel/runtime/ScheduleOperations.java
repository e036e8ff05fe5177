package dev.semel.runtime;

import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.engine.RetentionPolicy;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.timer.ScheduleTickAdmission;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

public final class ScheduleOperations {
    public static final int MAX_BACKFILL_TICKS = 1_000;

    private static final int AT_ONCE = 50;

    private final SemelRuntime semel;
    private final ScheduleTickAdmission admission;

    ScheduleOperations(SemelRuntime semel, ScheduleTickAdmission admission) {
        this.semel = semel;
        this.admission = admission;
    }

    /** Schedules of a workspace, ordered by workflow and name, after the given ones. */
    public List<DatabaseRows.ScheduleRow> page(int workspace, String afterWorkflow, String afterName, int limit) {
        return Objects.requireNonNull(
                semel.view(reads -> reads.schedules().page(workspace, afterWorkflow, afterName, limit)));
    }

    public List<DatabaseRows.ScheduleRow> ofWorkflow(String workflowId) {
        return Objects.requireNonNull(semel.view(reads -> reads.schedules().ofWorkflow(workflowId)));
    }

    public DatabaseRows.@Nullable ScheduleRow find(int workspace, String workflowId, String name) {
        return semel.view(reads -> reads.schedules().schedule(workspace, workflowId, name));
    }

    /** Ticks before this time in microseconds, newest first. */
    public List<DatabaseRows.TickRow> ticks(String workflowId, String name, long before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.schedules().ticks(workflowId, name, before, limit)));
    }

    /** The next nominal times; works without the code of the workflow. */
    public List<Instant> nextTimes(DatabaseRows.ScheduleRow row, int count) {
        Instant first = instant(row.nextNominal());
        return first == null
                ? List.of()
                : Schedule.parse(row.name(), StrictJsonCodec.parse(row.spec())).next(first.minusSeconds(1), count);
    }

    /** Pauses or resumes a schedule. Null if it does not exist. */
    public DatabaseRows.@Nullable ScheduleRow pause(
            int workspace, DatabaseRows.ScheduleRow row, boolean paused, String actor) {
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), actor, "");
        return semel.changeOrNull(
                new StoreWriteCommand.PauseSchedule(workspace, row.workflowId(), row.name(), paused, by));
    }

    /**
     * @param from start, inclusive
     * @param to end, exclusive; future ticks are never included
     */
    public record BackfillRange(Instant from, Instant to) {}

    public record BackfillResult(List<DatabaseRows.TickRow> ticks, int started, int alreadyDone, int rejected) {}

    public BackfillResult backfill(int workspace, DatabaseRows.ScheduleRow row, BackfillRange span) {
        return backfill(workspace, row, span, () -> {});
    }

    /** Under the tick's own key: a repetition starts nothing more. Calls {@code begin} before the first run. */
    public BackfillResult backfill(int workspace, DatabaseRows.ScheduleRow row, BackfillRange span, Runnable begin) {
        WorkflowCatalogEntry current = current(workspace, row);
        Schedule schedule = current == null
                ? null
                : current.published().options().triggers().schedule(row.name());
        if (current == null || schedule == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Schedule \"" + row.name() + "\" no longer exists. No run was started.",
                    "List the schedules with GET /v1/schedules.");
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        List<Instant> wanted = wanted(schedule, span, Objects.requireNonNull(instant(now)));
        begin.run();
        Backfill backfill =
                new Backfill(row, now, wanted.isEmpty() ? 0 : MicrosecondConverter.of(wanted.getLast()) + 1);
        for (int from = 0; from < wanted.size(); from += AT_ONCE) {
            List<Instant> some = wanted.subList(from, Math.min(wanted.size(), from + AT_ONCE));
            try {
                some.forEach(nominal -> backfill.fill(nominal, workspace, current, schedule));
            } finally {
                // Also if the store failed in between, so that the ticks show which runs were started.
                backfill.write();
            }
        }
        return new BackfillResult(
                backfill.results, backfill.started, backfill.before, backfill.results.size() - backfill.ran);
    }

    private @Nullable WorkflowCatalogEntry current(int workspace, DatabaseRows.ScheduleRow row) {
        try {
            return semel.workflow(workspace, row.workflowId());
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
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
        private final DatabaseRows.ScheduleRow row;
        private final long now;
        private final Set<Long> done = new HashSet<>();
        private final List<DatabaseRows.TickRow> results = new ArrayList<>();
        private int written;
        private int started;
        private int before;
        private int ran;

        Backfill(DatabaseRows.ScheduleRow row, long now, long end) {
            this.row = row;
            this.now = now;
            ticks(row.workflowId(), row.name(), end, MAX_BACKFILL_TICKS * 2).stream()
                    .filter(tick -> tick.state().ran())
                    .forEach(tick -> done.add(tick.nominal()));
        }

        void fill(Instant nominal, int workspace, WorkflowCatalogEntry current, Schedule schedule) {
            if (done.contains(MicrosecondConverter.of(nominal))) {
                before++;
                return;
            }
            try {
                TriggerResult result = admission.admit(workspace, current, schedule, nominal);
                before += result.replayed() ? 1 : 0;
                started += result.replayed() ? 0 : 1;
                ran++;
                results.add(tick(nominal, ScheduleTickOutcome.BACKFILLED, "", result.run()));
            } catch (SemelException e) {
                if (e.code().retryable()) {
                    throw e;
                }
                results.add(tick(nominal, ScheduleTickOutcome.REJECTED, e.code().slug(), null));
            }
        }

        private DatabaseRows.TickRow tick(
                Instant nominal, ScheduleTickOutcome state, String reason, @Nullable RunId run) {
            return new DatabaseRows.TickRow(
                    row.workflowId(), row.name(), MicrosecondConverter.of(nominal), state, reason, run, now, 0);
        }

        void write() {
            List<DatabaseRows.TickRow> some = List.copyOf(results.subList(written, results.size()));
            written = results.size();
            if (!some.isEmpty()) {
                // CRASH(backfill-admitted): The runs are stored and their ticks are not. A repeat finds the runs.
                semel.crashPoint("backfill-admitted");
                semel.change(new StoreWriteCommand.RecordBackfill(some));
            }
        }
    }

    private static List<Instant> wanted(Schedule schedule, BackfillRange span, Instant now) {
        if (span.from().isBefore(now.minus(RetentionPolicy.TICK_KEYS))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The backfill starts more than " + RetentionPolicy.TICK_KEYS.toDays()
                            + " days ago. The keys of such ticks have expired, so their runs could start twice. No run"
                            + " was started.",
                    "Choose a later start time for the backfill. For older ticks, start runs yourself, with your own"
                            + " keys.");
        }
        List<Instant> wanted = new ArrayList<>();
        Instant next = schedule.nextAfter(span.from().minusNanos(1));
        while (next != null && next.isBefore(span.to()) && !next.isAfter(now)) {
            if (wanted.size() == MAX_BACKFILL_TICKS) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The schedule has more than " + MAX_BACKFILL_TICKS
                                + " ticks in this range. No run was started.",
                        "Use a shorter range, and run another backfill for the rest.");
            }
            wanted.add(next);
            next = schedule.nextAfter(next);
        }
        return wanted;
    }

    /** Converts microseconds; null for {@link Long#MAX_VALUE}, which means never. */
    public static @Nullable Instant instant(long micros) {
        return micros == Long.MAX_VALUE ? null : MicrosecondConverter.toInstant(micros);
    }
}
