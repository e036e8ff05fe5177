package dev.semel.store.jdbc.run;

import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries.RunFilter;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/** Each filter starts at the narrowest table or index with its runs: a few matches among a million are found fast. */
public final class RunListQueries {

    /** Runs of all workspaces to scan before each workflow of this workspace is queried on its own. */
    private static final int LOOKED_AT = 2_000;

    /** The number of parameters of {@link #LISTED}. */
    private static final int TOGETHER = 20;

    // A page must fit into memory: large inputs and outputs are read only with a single run.
    private static final String OF_WORKFLOW = """
        SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.trigger_source, r.actor, r.key, r.correlation_id,
            CASE WHEN length(r.input) > 4096 THEN '' ELSE r.input END,
               r.lineage, r.previous_run, r.duplicate_of, r.created_at, w.state, w.claim_count, e.state, e.ended_at,
               CASE WHEN length(e.output) > 4096 THEN '' ELSE e.output END, e.error_code, e.error_message,
                   e.error_step, '[]', u.replays, u.conflicts, u.last_at,
               w.crash_count, w.cancel_requested, w.due_at, w.waiting_for, l.parent, l.replay_of, l.depth,
               COALESCE(w.started_at, e.started_at)
        FROM semel_run r
        LEFT JOIN semel_unfinished_run w ON w.run = r.run
        LEFT JOIN semel_finished_run e ON e.run = r.run
        LEFT JOIN semel_duplicate_count u ON u.run = r.run
        LEFT JOIN semel_run_link l ON l.run = r.run
        WHERE r.ws = ? AND r.workflow_id = ? AND r.run < ? AND r.run >= ? AND r.created_at >= ?
          AND (CAST(? AS integer) = 0 OR COALESCE(e.state, w.state) = ?)
          AND (CAST(? AS bigint) = 0 OR e.ended_at >= ?)
        ORDER BY r.run DESC LIMIT ?
        """;

    private static final String LISTED = """
        SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.trigger_source, r.actor, r.key, r.correlation_id,
            CASE WHEN length(r.input) > 4096 THEN '' ELSE r.input END,
               r.lineage, r.previous_run, r.duplicate_of, r.created_at, w.state, w.claim_count, e.state, e.ended_at,
               CASE WHEN length(e.output) > 4096 THEN '' ELSE e.output END, e.error_code, e.error_message,
                   e.error_step, '[]', u.replays, u.conflicts, u.last_at,
               w.crash_count, w.cancel_requested, w.due_at, w.waiting_for, l.parent, l.replay_of, l.depth,
               COALESCE(w.started_at, e.started_at)
        FROM semel_run r
        LEFT JOIN semel_unfinished_run w ON w.run = r.run
        LEFT JOIN semel_finished_run e ON e.run = r.run
        LEFT JOIN semel_duplicate_count u ON u.run = r.run
        LEFT JOIN semel_run_link l ON l.run = r.run
        WHERE r.run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String OF_WORKSPACE = """
        SELECT n.run
        FROM (SELECT run, ws, created_at FROM semel_run WHERE run < ? AND run >= ? ORDER BY run DESC LIMIT ?) n
        WHERE n.ws = ? AND n.created_at >= ?
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_finished_run e WHERE e.run = n.run
              AND e.state = ?))
          AND (CAST(? AS bigint) = 0 OR EXISTS (SELECT 1 FROM semel_finished_run e WHERE e.run = n.run
              AND e.ended_at >= ?))
        ORDER BY n.run DESC LIMIT ?
        """;

    private static final String AT_WORK = """
        SELECT w.run FROM semel_unfinished_run w CROSS JOIN semel_run r
        WHERE w.run < ? AND w.run >= ? AND r.run = w.run AND r.ws = ? AND r.created_at >= ?
          AND w.state = ? AND (? = '' OR w.workflow_id = ?)
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_duplicate_count u WHERE u.run = w.run
              AND u.replays > 0))
        ORDER BY w.run DESC LIMIT ?
        """;

    private static final String FAILED = """
        SELECT e.run FROM semel_finished_run e CROSS JOIN semel_run r
        WHERE e.run < ? AND e.run >= ? AND r.run = e.run AND e.ws = ? AND r.created_at >= ?
          AND e.state > 10 AND e.state = ? AND e.ended_at >= ?
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_duplicate_count u WHERE u.run = e.run
              AND u.replays > 0))
        ORDER BY e.run DESC LIMIT ?
        """;

    private static final String FAILED_OF_WORKFLOW = """
        SELECT e.run FROM semel_finished_run e CROSS JOIN semel_run r
        WHERE e.run < ? AND e.run >= ? AND r.run = e.run AND r.ws = ? AND r.created_at >= ?
          AND e.state > 10 AND e.state = ? AND e.ended_at >= ? AND e.workflow_id = ?
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_duplicate_count u WHERE u.run = e.run
              AND u.replays > 0))
        ORDER BY e.run DESC LIMIT ?
        """;

    private static final String REPLAYED = """
        SELECT u.run FROM semel_duplicate_count u CROSS JOIN semel_run r
        WHERE u.run < ? AND u.run >= ? AND r.run = u.run AND r.ws = ? AND r.created_at >= ? AND u.replays > 0
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_finished_run e WHERE e.run = u.run
              AND e.state = ?))
          AND (CAST(? AS bigint) = 0 OR EXISTS (SELECT 1 FROM semel_finished_run e WHERE e.run = u.run
              AND e.ended_at >= ?))
          AND (? = '' OR r.workflow_id = ?)
        ORDER BY u.run DESC LIMIT ?
        """;

    private static final String CORRELATED = """
        SELECT r.run
        FROM semel_run r
        LEFT JOIN semel_unfinished_run w ON w.run = r.run
        LEFT JOIN semel_finished_run e ON e.run = r.run
        WHERE r.ws = ? AND r.correlation_id = ? AND r.run < ? AND r.run >= ? AND r.created_at >= ?
          AND (CAST(? AS integer) = 0 OR COALESCE(e.state, w.state) = ?)
          AND (CAST(? AS bigint) = 0 OR e.ended_at >= ?)
          AND (? = '' OR r.workflow_id = ?)
          AND (CAST(? AS integer) = 0 OR EXISTS (SELECT 1 FROM semel_duplicate_count u WHERE u.run = r.run
              AND u.replays > 0))
        ORDER BY r.run DESC LIMIT ?
        """;

    private final JdbcSession session;

    public RunListQueries(JdbcSession session) {
        this.session = session;
    }

    public List<DatabaseRows.RunRow> list(RunFilter filter, Supplier<List<DatabaseRows.WorkflowRow>> workflows)
            throws SQLException {
        RunState state = filter.state();
        if (filter.correlationId() != null) {
            return whole(filter, this::correlated);
        }
        if (state != null && !state.hasEnded()) {
            if (filter.endedSince() > 0) {
                return List.of();
            }
            return whole(filter, page -> atWork(page, state));
        }
        if (state != null && state != RunState.COMPLETED) {
            return whole(filter, page -> failed(page, state));
        }
        if (filter.replayedOnly()) {
            return whole(filter, this::replayed);
        }
        if (filter.workflowId() != null) {
            return ofWorkflow(filter.workflowId(), filter);
        }
        List<RunId> newest = ofWorkspace(filter);
        List<DatabaseRows.RunRow> found = newest.size() == filter.limit() ? listed(newest) : List.of();
        return found.size() == filter.limit() ? found : ofEach(workflows.get(), filter);
    }

    /** Fills the page even if retention deletes runs meanwhile, because a short page means that nothing follows. */
    private List<DatabaseRows.RunRow> whole(RunFilter filter, RunIdQuery source) throws SQLException {
        List<DatabaseRows.RunRow> found = new ArrayList<>();
        RunFilter page = filter;
        boolean more = true;
        while (more) {
            List<RunId> ids = source.ids(page);
            found.addAll(listed(ids));
            more = ids.size() == page.limit() && found.size() < filter.limit();
            page = more ? filter.page(ids.getLast(), filter.limit() - found.size()) : page;
        }
        return found;
    }

    private interface RunIdQuery {
        List<RunId> ids(RunFilter filter) throws SQLException;
    }

    /** The newest runs of a workspace are among the newest of each of its workflows. */
    private List<DatabaseRows.RunRow> ofEach(List<DatabaseRows.WorkflowRow> workflows, RunFilter filter)
            throws SQLException {
        List<DatabaseRows.RunRow> all = new ArrayList<>();
        for (DatabaseRows.WorkflowRow workflow : workflows) {
            all.addAll(ofWorkflow(workflow.workflowId(), filter));
            all.sort(Comparator.comparing(DatabaseRows.RunRow::id).reversed());
            if (all.size() > filter.limit()) {
                all.subList(filter.limit(), all.size()).clear();
            }
        }
        return all;
    }

    private List<DatabaseRows.RunRow> ofWorkflow(String workflowId, RunFilter filter) throws SQLException {
        int state = code(filter);
        return session.queryList(
                OF_WORKFLOW,
                RowMappers::mapRun,
                filter.ws(),
                workflowId,
                before(filter),
                from(filter),
                filter.since(),
                state,
                state,
                filter.endedSince(),
                filter.endedSince(),
                filter.limit());
    }

    private List<RunId> ofWorkspace(RunFilter filter) throws SQLException {
        int state = code(filter);
        return session.queryList(
                OF_WORKSPACE,
                RunListQueries::id,
                before(filter),
                from(filter),
                LOOKED_AT,
                filter.ws(),
                filter.since(),
                state,
                state,
                filter.endedSince(),
                filter.endedSince(),
                filter.limit());
    }

    private List<RunId> atWork(RunFilter filter, RunState state) throws SQLException {
        return session.queryList(
                AT_WORK,
                RunListQueries::id,
                before(filter),
                from(filter),
                filter.ws(),
                filter.since(),
                state.code(),
                workflow(filter),
                workflow(filter),
                filter.replayedOnly() ? 1 : 0,
                filter.limit());
    }

    private List<RunId> failed(RunFilter filter, RunState state) throws SQLException {
        int replayed = filter.replayedOnly() ? 1 : 0;
        if (filter.workflowId() == null) {
            return session.queryList(
                    FAILED,
                    RunListQueries::id,
                    before(filter),
                    from(filter),
                    filter.ws(),
                    filter.since(),
                    state.code(),
                    filter.endedSince(),
                    replayed,
                    filter.limit());
        }
        return session.queryList(
                FAILED_OF_WORKFLOW,
                RunListQueries::id,
                before(filter),
                from(filter),
                filter.ws(),
                filter.since(),
                state.code(),
                filter.endedSince(),
                filter.workflowId(),
                replayed,
                filter.limit());
    }

    private List<RunId> replayed(RunFilter filter) throws SQLException {
        int state = code(filter);
        return session.queryList(
                REPLAYED,
                RunListQueries::id,
                before(filter),
                from(filter),
                filter.ws(),
                filter.since(),
                state,
                state,
                filter.endedSince(),
                filter.endedSince(),
                workflow(filter),
                workflow(filter),
                filter.limit());
    }

    private List<RunId> correlated(RunFilter filter) throws SQLException {
        int state = code(filter);
        return session.queryList(
                CORRELATED,
                RunListQueries::id,
                filter.ws(),
                StorableText.shortenForIndex(String.valueOf(filter.correlationId())),
                before(filter),
                from(filter),
                filter.since(),
                state,
                state,
                filter.endedSince(),
                filter.endedSince(),
                workflow(filter),
                workflow(filter),
                filter.replayedOnly() ? 1 : 0,
                filter.limit());
    }

    /** Returns whole rows, newest first; deleted runs are left out. */
    private List<DatabaseRows.RunRow> listed(List<RunId> ids) throws SQLException {
        List<DatabaseRows.RunRow> found = new ArrayList<>(ids.size());
        for (int at = 0; at < ids.size(); at += TOGETHER) {
            Object[] some = new Object[TOGETHER];
            for (int i = 0; i < TOGETHER; i++) {
                some[i] = ids.get(Math.min(at + i, ids.size() - 1));
            }
            found.addAll(session.queryList(LISTED, RowMappers::mapRun, some));
        }
        found.sort(Comparator.comparing(DatabaseRows.RunRow::id).reversed());
        return found;
    }

    private static RunId id(ResultSet row) throws SQLException {
        return RunId.of(row.getBytes(1));
    }

    private static int code(RunFilter filter) {
        return filter.state() == null ? 0 : filter.state().code();
    }

    private static String workflow(RunFilter filter) {
        return filter.workflowId() == null ? "" : filter.workflowId();
    }

    private static RunId before(RunFilter filter) {
        return filter.before() == null ? RunId.MAX : filter.before();
    }

    private static RunId from(RunFilter filter) {
        return filter.from() == null ? RunId.MIN : filter.from();
    }
}
