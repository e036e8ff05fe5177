package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class JdbcReplayPlanQueries extends JdbcQueries implements ReplayPlanQueries {

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

    // Those that lose safe re-send soonest come first.
    private static final String ITEMS = """
        SELECT run, worst_action, actions, prediction, outcome, new_run, note, resend_until FROM semel_replay_plan_item
        WHERE plan = ? AND (resend_until, run) > (
              COALESCE((SELECT a.resend_until FROM semel_replay_plan_item a WHERE a.plan = ? AND a.run = ?), -1), ?)
          AND (CAST(? AS integer) = 0 OR (actions & ?) <> 0)
          AND (CAST(? AS integer) = 0 OR outcome = ?)
        ORDER BY resend_until, run LIMIT ?
        """;

    private static final String PROGRESS = """
        SELECT x.outcome, x.state, count(*) FROM (
            SELECT i.outcome, COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = i.new_run),
                                    (SELECT w.state FROM semel_unfinished_run w WHERE w.run = i.new_run), 0) AS state
            FROM semel_replay_plan_item i WHERE i.plan = ?) x
        GROUP BY x.outcome, x.state ORDER BY x.outcome, x.state
        """;

    JdbcReplayPlanQueries(JdbcSession session) {
        super(session);
    }

    @Override
    public ReplayPlanStoreWriteCommand.@Nullable ReplayPlan plan(int ws, RunId id) {
        return queryNullable(() -> find(session, ws, id));
    }

    /** @param ws 0 for any */
    static ReplayPlanStoreWriteCommand.@Nullable ReplayPlan find(JdbcSession session, int ws, RunId id)
            throws SQLException {
        return session.queryOne(ONE, JdbcReplayPlanQueries::plan, id, ws, ws);
    }

    @Override
    public List<ReplayPlanStoreWriteCommand.ReplayPlan> page(int ws, @Nullable RunId before, int limit) {
        return list(PAGE, JdbcReplayPlanQueries::plan, ws, before == null ? RunId.MAX : before, limit);
    }

    @Override
    public List<ReplayPlanStoreWriteCommand.PlanItem> items(ItemFilter wanted, @Nullable RunId after, int limit) {
        int fate = wanted.outcome() == null ? 0 : wanted.outcome().code();
        return list(
                ITEMS,
                JdbcReplayPlanQueries::item,
                wanted.plan(),
                wanted.plan(),
                after == null ? RunId.MIN : after,
                after == null ? RunId.MIN : after,
                wanted.actions(),
                wanted.actions(),
                fate,
                fate,
                limit);
    }

    @Override
    public List<ItemCount> progress(RunId plan) {
        return list(
                PROGRESS,
                row -> new ItemCount(
                        ReplayPlanStoreWriteCommand.ItemOutcome.of(row.getInt(1)),
                        row.getInt(2) == 0 ? null : RunState.of(row.getInt(2)),
                        row.getLong(3)),
                plan);
    }

    @Override
    public ReplayPlanStoreWriteCommand.@Nullable ReplayPlan applying() {
        return one(APPLYING, JdbcReplayPlanQueries::plan);
    }

    @Override
    public List<ReplayPlanStoreWriteCommand.ReplayPlan> claimable(RunId worker, long now, int limit) {
        return list(FREE, JdbcReplayPlanQueries::plan, now, worker, limit);
    }

    @Override
    public List<EndedRun> endedRuns(List<RunId> runs) {
        List<EndedRun> all = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += ENDED_AT_ONCE) {
            RunId[] some = new RunId[ENDED_AT_ONCE];
            for (int i = 0; i < some.length; i++) {
                some[i] = runs.get(Math.min(from + i, runs.size() - 1)); // the last run fills the remaining parameters
            }
            all.addAll(
                    list(ENDED, row -> new EndedRun(RunId.of(row.getBytes(1)), RunState.of(row.getInt(2))), (Object[])
                            some));
        }
        return all;
    }

    @Override
    public boolean hasPlansBefore(long time) {
        String some = "SELECT 1 FROM semel_replay_plan WHERE created_at < ? AND state <> 3 LIMIT 1";
        return exists(some, time);
    }

    private static ReplayPlanStoreWriteCommand.ReplayPlan plan(ResultSet row) throws SQLException {
        return new ReplayPlanStoreWriteCommand.ReplayPlan(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                row.getLong(6),
                row.getLong(7),
                ReplayPlanStoreWriteCommand.PlanState.of(row.getInt(8)),
                row.getString(9),
                row.getString(10),
                row.getString(11),
                row.getString(12),
                row.getString(13),
                RowMappers.mapRunId(row, 14),
                row.getLong(15),
                row.getLong(16));
    }

    private static ReplayPlanStoreWriteCommand.PlanItem item(ResultSet row) throws SQLException {
        return new ReplayPlanStoreWriteCommand.PlanItem(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getInt(3),
                row.getString(4),
                ReplayPlanStoreWriteCommand.ItemOutcome.of(row.getInt(5)),
                RowMappers.mapRunId(row, 6),
                row.getString(7),
                row.getLong(8));
    }
}
