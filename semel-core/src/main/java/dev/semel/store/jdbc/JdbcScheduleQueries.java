package dev.semel.store.jdbc;

import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class JdbcScheduleQueries extends JdbcQueries implements ScheduleQueries {
    private static final String DUE = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            CASE WHEN EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = s.last_run) THEN 1 ELSE 0 END
        FROM semel_schedule s WHERE s.next_at <= ? AND s.claimed_until <= ?
        ORDER BY s.next_at, s.workflow_id, s.name LIMIT ?
        """;

    private static final String FIRST = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            0
        FROM semel_schedule s ORDER BY s.next_at, s.workflow_id, s.name LIMIT 1
        """;

    private static final String AFTER = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            0
        FROM semel_schedule s WHERE s.next_at > ? ORDER BY s.next_at, s.workflow_id, s.name LIMIT 1
        """;

    private static final String ONE = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            CASE WHEN EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = s.last_run) THEN 1 ELSE 0 END
        FROM semel_schedule s WHERE s.ws = ? AND s.workflow_id = ? AND s.name = ?
        """;

    private static final String OF_WORKFLOW = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            CASE WHEN EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = s.last_run) THEN 1 ELSE 0 END
        FROM semel_schedule s WHERE s.workflow_id = ? ORDER BY s.name
        """;

    private static final String PAGE = """
        SELECT s.ws, s.workflow_id, s.name, s.spec, s.paused, s.next_nominal, s.next_at, s.claimed_by,
            s.claimed_until, s.last_run,
            CASE WHEN EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = s.last_run) THEN 1 ELSE 0 END
        FROM semel_schedule s WHERE s.ws = ? AND (s.workflow_id, s.name) > (?, ?)
        ORDER BY s.workflow_id, s.name LIMIT ?
        """;

    private static final String TICKS = """
        SELECT workflow_id, schedule, nominal, state, reason, run, at, skipped_through FROM semel_schedule_tick
        WHERE workflow_id = ? AND schedule = ? AND nominal < ? ORDER BY nominal DESC LIMIT ?
        """;

    private static final String CURRENT_VERSIONS = """
        SELECT ws, workflow_id, version FROM semel_workflow WHERE workflow_id > ? AND version > 0
        ORDER BY workflow_id LIMIT ?
        """;

    JdbcScheduleQueries(JdbcSession session) {
        super(session);
    }

    @Override
    public List<DatabaseRows.ScheduleRow> due(long now, int limit) {
        return list(DUE, JdbcScheduleQueries::schedule, now, now, limit);
    }

    @Override
    public DatabaseRows.@Nullable ScheduleRow firstDue() {
        return one(FIRST, JdbcScheduleQueries::schedule);
    }

    @Override
    public DatabaseRows.@Nullable ScheduleRow firstDueAfter(long time) {
        return one(AFTER, JdbcScheduleQueries::schedule, time);
    }

    @Override
    public DatabaseRows.@Nullable ScheduleRow schedule(int ws, String workflowId, String name) {
        return queryNullable(() -> find(session, ws, workflowId, name));
    }

    static DatabaseRows.@Nullable ScheduleRow find(JdbcSession session, int ws, String workflowId, String name)
            throws SQLException {
        return session.queryOne(ONE, JdbcScheduleQueries::schedule, ws, workflowId, name);
    }

    @Override
    public List<DatabaseRows.ScheduleRow> ofWorkflow(String workflowId) {
        return query(() -> of(session, workflowId));
    }

    static List<DatabaseRows.ScheduleRow> of(JdbcSession session, String workflowId) throws SQLException {
        return session.queryList(OF_WORKFLOW, JdbcScheduleQueries::schedule, workflowId);
    }

    @Override
    public List<DatabaseRows.ScheduleRow> page(int ws, String afterWorkflow, String afterName, int limit) {
        return list(PAGE, JdbcScheduleQueries::schedule, ws, afterWorkflow, afterName, limit);
    }

    @Override
    public List<DatabaseRows.TickRow> ticks(String workflowId, String schedule, long before, int limit) {
        return list(TICKS, JdbcScheduleQueries::tick, workflowId, schedule, before, limit);
    }

    @Override
    public boolean hasTicksBefore(long time) {
        return exists("SELECT 1 FROM semel_schedule_tick WHERE at < ? LIMIT 1", time);
    }

    @Override
    public List<CurrentVersion> currentVersions(String after, int limit) {
        return list(
                CURRENT_VERSIONS,
                row -> new CurrentVersion(row.getInt(1), row.getString(2), row.getInt(3)),
                after,
                limit);
    }

    private static DatabaseRows.ScheduleRow schedule(ResultSet row) throws SQLException {
        return new DatabaseRows.ScheduleRow(
                row.getInt(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getInt(5) == 1,
                row.getLong(6),
                row.getLong(7),
                RowMappers.mapRunId(row, 8),
                row.getLong(9),
                RowMappers.mapRunId(row, 10),
                row.getInt(11) == 1);
    }

    private static DatabaseRows.TickRow tick(ResultSet row) throws SQLException {
        return new DatabaseRows.TickRow(
                row.getString(1),
                row.getString(2),
                row.getLong(3),
                ScheduleTickOutcome.of(row.getInt(4)),
                row.getString(5),
                RowMappers.mapRunId(row, 6),
                row.getLong(7),
                row.getLong(8));
    }
}
