package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.schedule.TickOutcome;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoredRows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Read queries about schedules and their ticks. */
final class JdbcScheduleQueries implements ScheduleQueries {
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

    private final JdbcSession session;

    JdbcScheduleQueries(JdbcSession session) {
        this.session = session;
    }

    @Override
    public List<StoredRows.ScheduleRow> due(long now, int limit) {
        return query(() -> session.queryList(DUE, JdbcScheduleQueries::schedule, now, now, limit));
    }

    @Override
    public StoredRows.@Nullable ScheduleRow firstDue() {
        return queryNullable(() -> session.queryOne(FIRST, JdbcScheduleQueries::schedule));
    }

    @Override
    public StoredRows.@Nullable ScheduleRow firstDueAfter(long time) {
        return queryNullable(() -> session.queryOne(AFTER, JdbcScheduleQueries::schedule, time));
    }

    @Override
    public StoredRows.@Nullable ScheduleRow schedule(int ws, String workflowId, String name) {
        return queryNullable(() -> find(session, ws, workflowId, name));
    }

    static StoredRows.@Nullable ScheduleRow find(JdbcSession session, int ws, String workflowId, String name)
            throws SQLException {
        return session.queryOne(ONE, JdbcScheduleQueries::schedule, ws, workflowId, name);
    }

    @Override
    public List<StoredRows.ScheduleRow> ofWorkflow(String workflowId) {
        return query(() -> of(session, workflowId));
    }

    static List<StoredRows.ScheduleRow> of(JdbcSession session, String workflowId) throws SQLException {
        return session.queryList(OF_WORKFLOW, JdbcScheduleQueries::schedule, workflowId);
    }

    @Override
    public List<StoredRows.ScheduleRow> page(int ws, String afterWorkflow, String afterName, int limit) {
        return query(() -> session.queryList(PAGE, JdbcScheduleQueries::schedule, ws, afterWorkflow, afterName, limit));
    }

    @Override
    public List<StoredRows.TickRow> ticks(String workflowId, String schedule, long before, int limit) {
        return query(() -> session.queryList(TICKS, JdbcScheduleQueries::tick, workflowId, schedule, before, limit));
    }

    @Override
    public boolean hasTicksBefore(long time) {
        return queryNullable(() ->
                        session.queryOne("SELECT 1 FROM semel_schedule_tick WHERE at < ? LIMIT 1", row -> 1, time))
                != null;
    }

    @Override
    public List<CurrentVersion> currentVersions(String after, int limit) {
        return query(() -> session.queryList(
                CURRENT_VERSIONS,
                row -> new CurrentVersion(row.getInt(1), row.getString(2), row.getInt(3)),
                after,
                limit));
    }

    private static StoredRows.ScheduleRow schedule(ResultSet row) throws SQLException {
        return new StoredRows.ScheduleRow(
                row.getInt(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getInt(5) == 1,
                row.getLong(6),
                row.getLong(7),
                id(row.getBytes(8)),
                row.getLong(9),
                id(row.getBytes(10)),
                row.getInt(11) == 1);
    }

    private static StoredRows.TickRow tick(ResultSet row) throws SQLException {
        return new StoredRows.TickRow(
                row.getString(1),
                row.getString(2),
                row.getLong(3),
                TickOutcome.of(row.getInt(4)),
                row.getString(5),
                id(row.getBytes(6)),
                row.getLong(7),
                row.getLong(8));
    }

    private static @Nullable RunId id(byte @Nullable [] bytes) {
        return bytes == null ? null : RunId.of(bytes);
    }

    private static <T> T query(JdbcStoreQueries.SqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
    }

    private static <T> @Nullable T queryNullable(JdbcStoreQueries.NullableSqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
    }
}
