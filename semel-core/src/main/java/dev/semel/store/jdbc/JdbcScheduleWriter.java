package dev.semel.store.jdbc;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class JdbcScheduleWriter {
    private static final String IS_CURRENT = """
        UPDATE semel_workflow SET version = version WHERE ws = ? AND workflow_id = ? AND version = ?
        """;

    private static final String ADD = """
        INSERT INTO semel_schedule (ws, workflow_id, name, spec, paused, next_nominal, next_at, claimed_by,
            claimed_until, last_run)
        VALUES (?, ?, ?, ?, 0, ?, ?, NULL, 0, NULL) ON CONFLICT (workflow_id, name) DO NOTHING
        """;

    // The worker that claimed the tick can no longer settle it, because the schedule has a new text. It may have
    // started the run already, so the next claimant must see that the tick was claimed: claimed_until = 1 is always in
    // the past.
    private static final String CHANGE = """
        UPDATE semel_schedule SET spec = ?, next_at = ?, claimed_until = CASE WHEN claimed_by IS NULL THEN 0 ELSE 1 END
        WHERE workflow_id = ? AND name = ? AND spec = ? AND next_nominal = ?
        """;

    private static final String MOVE = """
        UPDATE semel_schedule SET spec = ?, next_at = ?, claimed_until = 0, claimed_by = NULL, next_nominal = ?
        WHERE workflow_id = ? AND name = ? AND spec = ? AND next_nominal = ?
        """;

    private static final String REMOVE = """
        DELETE FROM semel_schedule WHERE workflow_id = ? AND name = ?
        """;

    private static final String CLAIM = """
        UPDATE semel_schedule SET claimed_by = ?, claimed_until = ?
        WHERE workflow_id = ? AND name = ? AND next_nominal = ? AND (claimed_until <= ? OR claimed_by = ?)
        """;

    private static final String ADVANCE = """
        UPDATE semel_schedule SET next_nominal = ?, next_at = ?, claimed_by = NULL, claimed_until = 0,
            last_run = COALESCE(?, last_run)
        WHERE workflow_id = ? AND name = ? AND next_nominal = ? AND claimed_by = ? AND claimed_until > 1
        """;

    private static final String INSERT_TICK = """
        INSERT INTO semel_schedule_tick (workflow_id, schedule, nominal, state, reason, run, at, skipped_through)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workflow_id, schedule, nominal) DO NOTHING
        """;

    // A tick with a run wins over a skipped one: the worker that skipped it did not know of the run.
    private static final String INSERT_TICK_WITH_RUN = """
        INSERT INTO semel_schedule_tick (workflow_id, schedule, nominal, state, reason, run, at, skipped_through)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workflow_id, schedule, nominal) DO UPDATE
        SET state = excluded.state, reason = excluded.reason, run = excluded.run, at = excluded.at, skipped_through = 0
        WHERE semel_schedule_tick.state > 3
        """;

    private static final String PAUSE = """
        UPDATE semel_schedule SET paused = ? WHERE ws = ? AND workflow_id = ? AND name = ? AND paused <> ?
        """;

    private static final String OLD = """
        SELECT workflow_id, schedule, nominal FROM semel_schedule_tick WHERE at < ?
        ORDER BY at, workflow_id, schedule, nominal LIMIT ?
        """;

    private static final String DELETE = """
        DELETE FROM semel_schedule_tick WHERE workflow_id = ? AND schedule = ? AND nominal = ?
        """;

    private final JdbcSession session;
    private final StoreWriteCommandExecutor edits;

    JdbcScheduleWriter(JdbcSession session, StoreWriteCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    boolean saveSchedules(StoreWriteCommand.SaveSchedules layOut, long now) throws SQLException {
        if (session.update(IS_CURRENT, layOut.workspace(), layOut.workflowId(), layOut.version()) == 0) {
            return false;
        }
        Map<String, DatabaseRows.ScheduleRow> existing = new HashMap<>();
        for (DatabaseRows.ScheduleRow row : JdbcScheduleQueries.of(session, layOut.workflowId())) {
            existing.put(row.name(), row);
        }
        for (StoreWriteCommand.ScheduleUpdate laid : layOut.schedules()) {
            DatabaseRows.ScheduleRow row = existing.get(laid.name());
            boolean done = row != null && row.spec().equals(laid.spec());
            if (!done && !isUnchanged(row, laid.previous())) {
                return false; // checked before the first change
            }
        }
        for (StoreWriteCommand.ScheduleUpdate laid : layOut.schedules()) {
            saveSchedule(layOut, laid, existing.remove(laid.name()), now);
        }
        for (DatabaseRows.ScheduleRow gone : existing.values().stream()
                .sorted((a, b) -> a.name().compareTo(b.name()))
                .toList()) {
            recordTicks(layOut.abandonedTicksOf(gone, now));
            session.update(REMOVE, gone.workflowId(), gone.name());
        }
        return true;
    }

    private static boolean isUnchanged(
            DatabaseRows.@Nullable ScheduleRow row, DatabaseRows.@Nullable ScheduleRow before) {
        return row == null || before == null
                ? row == null && before == null
                : row.spec().equals(before.spec()) && row.nextNominal() == before.nextNominal();
    }

    private void saveSchedule(
            StoreWriteCommand.SaveSchedules layOut,
            StoreWriteCommand.ScheduleUpdate laid,
            DatabaseRows.@Nullable ScheduleRow row,
            long now)
            throws SQLException {
        String workflow = layOut.workflowId();
        if (row == null) {
            session.update(
                    ADD, layOut.workspace(), workflow, laid.name(), laid.spec(), laid.nextNominal(), laid.nextAt());
        } else if (!row.spec().equals(laid.spec())) {
            String spec = laid.spec();
            if (row.nextNominal() == laid.nextNominal()) {
                session.update(CHANGE, spec, laid.nextAt(), workflow, laid.name(), row.spec(), row.nextNominal());
            } else {
                recordTicks(layOut.abandonedTicksOf(row, now));
                session.update(
                        MOVE,
                        spec,
                        laid.nextAt(),
                        laid.nextNominal(),
                        workflow,
                        laid.name(),
                        row.spec(),
                        row.nextNominal());
            }
        }
    }

    List<DatabaseRows.ScheduleRow> claimTicks(StoreWriteCommand.ClaimTicks take, long now) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (DatabaseRows.ScheduleRow due : take.due()) {
            rows.add(new @Nullable Object[] {
                take.by(), now + take.duration(), due.workflowId(), due.name(), due.nextNominal(), now, take.by()
            });
        }
        int[] taken = session.updateBatch(CLAIM, rows);
        List<DatabaseRows.ScheduleRow> ours = new ArrayList<>();
        for (int i = 0; i < taken.length; i++) {
            if (taken[i] == 1) {
                ours.add(take.due().get(i));
            }
        }
        return ours;
    }

    int recordProgress(StoreWriteCommand.RecordTicks settle) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (StoreWriteCommand.ScheduleProgress one : settle.progress()) {
            rows.add(new @Nullable Object[] {
                one.nextNominal(), one.nextAt(), one.lastRun(), one.workflowId(), one.name(), one.nominal(), settle.by()
            });
        }
        int[] moved = session.updateBatch(ADVANCE, rows);
        List<@Nullable Object[]> skips = new ArrayList<>();
        List<@Nullable Object[]> runs = new ArrayList<>();
        int count = 0;
        for (int i = 0; i < moved.length; i++) {
            count += moved[i];
            for (DatabaseRows.TickRow tick : settle.progress().get(i).ticks()) {
                if (tick.state().ran()) {
                    runs.add(columns(tick));
                } else if (moved[i] == 1) {
                    skips.add(columns(tick));
                }
            }
        }
        session.updateBatch(INSERT_TICK, skips);
        session.updateBatch(INSERT_TICK_WITH_RUN, runs);
        return count;
    }

    int recordTicks(List<DatabaseRows.TickRow> ticks) throws SQLException {
        int written = 0;
        for (DatabaseRows.TickRow tick : ticks) {
            written += recordTicks(tick.state().ran() ? INSERT_TICK_WITH_RUN : INSERT_TICK, tick);
        }
        return written;
    }

    private int recordTicks(String sql, DatabaseRows.TickRow tick) throws SQLException {
        return session.update(sql, columns(tick));
    }

    private static @Nullable Object[] columns(DatabaseRows.TickRow tick) {
        return new @Nullable Object[] {
            tick.workflowId(),
            tick.schedule(),
            tick.nominal(),
            tick.state().code(),
            tick.reason(),
            tick.run(),
            tick.recordedAt(),
            tick.through()
        };
    }

    DatabaseRows.@Nullable ScheduleRow pause(StoreWriteCommand.PauseSchedule pause, long now) throws SQLException {
        int paused = pause.paused() ? 1 : 0;
        int changed = session.update(PAUSE, paused, pause.workspace(), pause.workflowId(), pause.name(), paused);
        if (changed == 1) {
            String action = pause.paused() ? "schedule.pause" : "schedule.resume";
            edits.writeAudit(pause.workspace(), now, pause.by(), action, pause.workflowId() + "/" + pause.name());
        }
        return JdbcScheduleQueries.find(session, pause.workspace(), pause.workflowId(), pause.name());
    }

    int deleteOldTicks(StoreWriteCommand.DeleteOldTicks delete) throws SQLException {
        List<@Nullable Object[]> old = session.queryList(
                OLD,
                row -> new @Nullable Object[] {row.getString(1), row.getString(2), row.getLong(3)},
                delete.before(),
                delete.limit());
        int deleted = 0;
        for (int one : session.updateBatch(DELETE, old)) {
            deleted += one;
        }
        return deleted;
    }
}
