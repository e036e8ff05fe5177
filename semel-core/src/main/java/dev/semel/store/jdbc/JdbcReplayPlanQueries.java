package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.StoreFailure;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Read queries about safe-replay plans and their items. */
final class JdbcReplayPlanQueries implements ReplayPlanQueries {
    private static final RunId FIRST = new RunId(0, 0);
    private static final RunId AFTER_ALL = new RunId(-1L, -1L);

    private static final String ONE = """
        SELECT id, ws, created_by, request, input, created_at, valid_until, state, counts, approved_by, apply_options,
            applied_by, note,
               claimed_by, claimed_until, ended_at
        FROM semel_replay_plan WHERE id = ? AND (CAST(? AS integer) = 0 OR ws = ?)
        """;

    private static final String PAGE = """
        SELECT id, ws, created_by, request, input, created_at, valid_until, state, counts, approved_by, apply_options,
            applied_by, note,
               claimed_by, claimed_until, ended_at
        FROM semel_replay_plan WHERE ws = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String APPLYING = """
        SELECT id, ws, created_by, request, input, created_at, valid_until, state, counts, approved_by, apply_options,
            applied_by, note,
               claimed_by, claimed_until, ended_at
        FROM semel_replay_plan WHERE state = 3 ORDER BY claimed_until LIMIT 1
        """;

    private static final String FREE = """
        SELECT id, ws, created_by, request, input, created_at, valid_until, state, counts, approved_by, apply_options,
            applied_by, note,
               claimed_by, claimed_until, ended_at
        FROM semel_replay_plan WHERE state = 3 AND (claimed_until <= ? OR claimed_by = ?) ORDER BY claimed_until, id
            LIMIT ?
        """;

    private static final String ENDED = """
        SELECT run, state FROM semel_finished_run
        WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final int ENDED_AT_ONCE = 25;

    private static final String ITEMS = """
        SELECT run, worst_action, actions, prediction, outcome, new_run, note FROM semel_replay_plan_item
        WHERE plan = ? AND run > ? AND (CAST(? AS integer) = 0 OR (actions & ?) <> 0)
          AND (CAST(? AS integer) = 0 OR outcome = ?)
        ORDER BY run LIMIT ?
        """;

    private static final String PROGRESS = """
        SELECT x.outcome, x.state, count(*) FROM (
            SELECT i.outcome, COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = i.new_run),
                                    (SELECT w.state FROM semel_unfinished_run w WHERE w.run = i.new_run), 0) AS state
            FROM semel_replay_plan_item i WHERE i.plan = ?) x
        GROUP BY x.outcome, x.state ORDER BY x.outcome, x.state
        """;

    private final JdbcSession session;

    JdbcReplayPlanQueries(JdbcSession session) {
        this.session = session;
    }

    @Override
    public ReplayPlanOperation.@Nullable ReplayPlan plan(int ws, RunId id) {
        return queryNullable(() -> find(session, ws, id));
    }

    /** @param ws 0 for any */
    static ReplayPlanOperation.@Nullable ReplayPlan find(JdbcSession session, int ws, RunId id) throws SQLException {
        return session.queryOne(ONE, JdbcReplayPlanQueries::plan, id, ws, ws);
    }

    @Override
    public List<ReplayPlanOperation.ReplayPlan> page(int ws, @Nullable RunId before, int limit) {
        return query(() -> session.queryList(PAGE, JdbcReplayPlanQueries::plan, ws, before == null ? AFTER_ALL : before, limit));
    }

    @Override
    public List<ReplayPlanOperation.PlanItem> items(ItemFilter wanted, @Nullable RunId after, int limit) {
        int fate = wanted.outcome() == null ? 0 : wanted.outcome().code();
        return query(() -> session.queryList(
                ITEMS,
                JdbcReplayPlanQueries::item,
                wanted.plan(),
                after == null ? FIRST : after,
                wanted.actions(),
                wanted.actions(),
                fate,
                fate,
                limit));
    }

    @Override
    public List<ItemCount> progress(RunId plan) {
        return query(() -> session.queryList(
                PROGRESS,
                row -> new ItemCount(
                        ReplayPlanOperation.ItemOutcome.of(row.getInt(1)),
                        row.getInt(2) == 0 ? null : RunState.of(row.getInt(2)),
                        row.getLong(3)),
                plan));
    }

    @Override
    public ReplayPlanOperation.@Nullable ReplayPlan applying() {
        return queryNullable(() -> session.queryOne(APPLYING, JdbcReplayPlanQueries::plan));
    }

    @Override
    public List<ReplayPlanOperation.ReplayPlan> claimable(RunId worker, long now, int limit) {
        return query(() -> session.queryList(FREE, JdbcReplayPlanQueries::plan, now, worker, limit));
    }

    @Override
    public List<EndedRun> endedRuns(List<RunId> runs) {
        List<EndedRun> all = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += ENDED_AT_ONCE) {
            RunId[] some = new RunId[ENDED_AT_ONCE];
            for (int i = 0; i < some.length; i++) {
                some[i] = runs.get(Math.min(from + i, runs.size() - 1)); // the last run fills the remaining parameters
            }
            all.addAll(query(() -> session.queryList(
                    ENDED, row -> new EndedRun(RunId.of(row.getBytes(1)), RunState.of(row.getInt(2))), (Object[]) some)));
        }
        return all;
    }

    @Override
    public boolean hasPlansBefore(long time) {
        String some = "SELECT 1 FROM semel_replay_plan WHERE created_at < ? AND state <> 3 LIMIT 1";
        return queryNullable(() -> session.queryOne(some, row -> 1, time)) != null;
    }

    private static ReplayPlanOperation.ReplayPlan plan(ResultSet row) throws SQLException {
        return new ReplayPlanOperation.ReplayPlan(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                row.getLong(6),
                row.getLong(7),
                ReplayPlanOperation.PlanState.of(row.getInt(8)),
                row.getString(9),
                row.getString(10),
                row.getString(11),
                row.getString(12),
                row.getString(13),
                id(row.getBytes(14)),
                row.getLong(15),
                row.getLong(16));
    }

    private static ReplayPlanOperation.PlanItem item(ResultSet row) throws SQLException {
        return new ReplayPlanOperation.PlanItem(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getInt(3),
                row.getString(4),
                ReplayPlanOperation.ItemOutcome.of(row.getInt(5)),
                id(row.getBytes(6)),
                row.getString(7));
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
