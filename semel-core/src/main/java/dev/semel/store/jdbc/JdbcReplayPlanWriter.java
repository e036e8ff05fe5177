package dev.semel.store.jdbc;

import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.ReplayPlanStoreWriteCommand.ItemOutcome;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

final class JdbcReplayPlanWriter {
    private static final long VALID_MICROS = MicrosecondConverter.of(ReplayPlanStoreWriteCommand.VALIDITY);

    private static final String CREATE = """
        INSERT INTO semel_replay_plan (id, ws, created_by, request, input, created_at, valid_until, state, counts,
            approved_by, apply_options,
                                applied_by, note, claimed_by, claimed_until, ended_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, 1, '{}', ?, ?, NULL, '', NULL, 0, 0) ON CONFLICT (id) DO NOTHING
        """;

    private static final String LOCK_PLANNING = "UPDATE semel_replay_plan SET note = note WHERE id = ? AND state = 1";

    private static final String ADD_ITEM = """
        INSERT INTO semel_replay_plan_item (plan, run, worst_action, actions, prediction, outcome, new_run, note,
            resend_until)
        VALUES (?, ?, ?, ?, ?, 1, NULL, '', ?) ON CONFLICT (plan, run) DO UPDATE
        SET worst_action = excluded.worst_action, actions = excluded.actions, prediction = excluded.prediction,
            resend_until = excluded.resend_until
        """;

    private static final String READY = """
        UPDATE semel_replay_plan SET state = 2, counts = ?, valid_until = ? WHERE id = ? AND state = 1
        """;

    private static final String APPROVE = """
        UPDATE semel_replay_plan SET approved_by = ?
        WHERE ws = ? AND id = ? AND state = 2 AND approved_by IS NULL AND created_by <> ?
        """;

    private static final String BEGIN = """
        UPDATE semel_replay_plan SET state = 3, apply_options = ?, applied_by = ?
        WHERE ws = ? AND id = ? AND state = 2 AND approved_by IS NOT NULL AND valid_until > ?
          AND (approved_by = '' OR apply_options IS NULL OR apply_options = ?)
        """;

    private static final String CLAIM = """
        UPDATE semel_replay_plan SET claimed_by = ?, claimed_until = ?
        WHERE id = ? AND state = 3 AND (claimed_until <= ? OR claimed_by = ?)
        """;

    private static final String RELEASE = """
        UPDATE semel_replay_plan SET claimed_by = NULL, claimed_until = 0, note = ? WHERE id = ? AND state = 3
            AND claimed_by = ?
        """;

    private static final String LOCK_OWN =
            "UPDATE semel_replay_plan SET note = note WHERE id = ? AND state = 3 AND claimed_by = ?";

    private static final String LOCK_OWN_AND_CLEAR_NOTE =
            "UPDATE semel_replay_plan SET note = '' WHERE id = ? AND state = 3 AND claimed_by = ?";

    // An existing new run is recorded even if another worker has claimed the plan; that worker records the rest.
    private static final String SETTLE = """
        UPDATE semel_replay_plan_item SET outcome = ?, new_run = ?, note = ? WHERE plan = ? AND run = ? AND outcome = 1
        """;

    private static final String FINISH = """
        UPDATE semel_replay_plan SET state = ?, note = ?, ended_at = ?, claimed_by = NULL, claimed_until = 0
        WHERE id = ? AND state = 3
        """;

    private static final String STOP = """
        UPDATE semel_replay_plan SET state = 5, note = ?, ended_at = ?, claimed_by = NULL, claimed_until = 0
        WHERE ws = ? AND id = ? AND state <= 3
        """;

    private static final String OLDEST = """
        SELECT id FROM semel_replay_plan WHERE created_at < ? AND state <> 3 ORDER BY created_at LIMIT 1
        """;

    private static final String OLD_ITEMS =
            "SELECT plan, run FROM semel_replay_plan_item WHERE plan = ? ORDER BY run LIMIT ?";

    private static final String DELETE_ITEM = "DELETE FROM semel_replay_plan_item WHERE plan = ? AND run = ?";

    private final JdbcSession session;
    private final StoreWriteCommandExecutor edits;

    JdbcReplayPlanWriter(JdbcSession session, StoreWriteCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    @Nullable
    Object apply(ReplayPlanStoreWriteCommand<?> replay, long now) throws SQLException {
        return switch (replay) {
            case ReplayPlanStoreWriteCommand.CreatePlan lay -> lay(lay, now);
            case ReplayPlanStoreWriteCommand.AddItems note -> note(note);
            case ReplayPlanStoreWriteCommand.RemoveItems drop -> drop(drop);
            case ReplayPlanStoreWriteCommand.MarkReady ready -> {
                session.update(READY, ready.summary(), now + VALID_MICROS, ready.plan());
                yield JdbcReplayPlanQueries.find(session, 0, ready.plan());
            }
            case ReplayPlanStoreWriteCommand.ApprovePlan approve -> approve(approve, now);
            case ReplayPlanStoreWriteCommand.StartApplying begin -> begin(begin, now);
            case ReplayPlanStoreWriteCommand.ClaimPlan take ->
                session.update(CLAIM, take.by(), now + take.duration(), take.plan(), now, take.by()) == 1;
            case ReplayPlanStoreWriteCommand.ReleasePlan go ->
                session.update(RELEASE, go.note(), go.plan(), go.by()) == 1;
            case ReplayPlanStoreWriteCommand.RecordItems settle -> settle(settle);
            case ReplayPlanStoreWriteCommand.FinishPlan finish ->
                session.update(FINISH, finish.state().code(), finish.note(), now, finish.plan()) == 1;
            case ReplayPlanStoreWriteCommand.StopPlan stop -> stop(stop, now);
            case ReplayPlanStoreWriteCommand.DeleteOldPlans delete -> delete(delete);
        };
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan lay(ReplayPlanStoreWriteCommand.CreatePlan lay, long now)
            throws SQLException {
        session.update(
                CREATE,
                lay.id(),
                lay.ws(),
                lay.createdBy(),
                lay.request(),
                lay.input(),
                now,
                now + VALID_MICROS,
                lay.needsApproval() ? null : "",
                lay.applyOptions());
        return Objects.requireNonNull(JdbcReplayPlanQueries.find(session, 0, lay.id()));
    }

    private int note(ReplayPlanStoreWriteCommand.AddItems note) throws SQLException {
        if (session.update(LOCK_PLANNING, note.plan()) == 0) {
            return 0;
        }
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (ReplayPlanStoreWriteCommand.PlanItem item : note.items()) {
            rows.add(new @Nullable Object[] {
                note.plan(), item.run(), item.worstAction(), item.actions(), item.preview(), item.resendUntil()
            });
        }
        session.updateBatch(ADD_ITEM, rows);
        return rows.size();
    }

    private int drop(ReplayPlanStoreWriteCommand.RemoveItems drop) throws SQLException {
        if (session.update(LOCK_PLANNING, drop.plan()) == 0) {
            return 0;
        }
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (RunId run : drop.runs()) {
            rows.add(new @Nullable Object[] {drop.plan(), run});
        }
        session.updateBatch(DELETE_ITEM, rows);
        return rows.size();
    }

    private ReplayPlanStoreWriteCommand.@Nullable ReplayPlan approve(
            ReplayPlanStoreWriteCommand.ApprovePlan approve, long now) throws SQLException {
        String actor = approve.by().actor();
        if (session.update(APPROVE, actor, approve.ws(), approve.plan(), actor) == 1) {
            edits.writeAudit(
                    approve.ws(),
                    now,
                    approve.by(),
                    "replay.approve",
                    ReplayPlanStoreWriteCommand.textOf(approve.plan()));
        }
        return JdbcReplayPlanQueries.find(session, approve.ws(), approve.plan());
    }

    private ReplayPlanStoreWriteCommand.@Nullable ReplayPlan begin(
            ReplayPlanStoreWriteCommand.StartApplying begin, long now) throws SQLException {
        String actor = begin.by().actor();
        if (session.update(BEGIN, begin.applyOptions(), actor, begin.ws(), begin.plan(), now, begin.applyOptions())
                == 1) {
            edits.writeAudit(
                    begin.ws(), now, begin.by(), "replay.apply", ReplayPlanStoreWriteCommand.textOf(begin.plan()));
        }
        return JdbcReplayPlanQueries.find(session, begin.ws(), begin.plan());
    }

    private boolean settle(ReplayPlanStoreWriteCommand.RecordItems settle) throws SQLException {
        String look = settle.items().isEmpty() ? LOCK_OWN : LOCK_OWN_AND_CLEAR_NOTE;
        boolean ours = session.update(look, settle.plan(), settle.by()) == 1;
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (ReplayPlanStoreWriteCommand.PlanItem item : settle.items()) {
            if (ours || item.outcome() == ItemOutcome.APPLIED) {
                rows.add(new @Nullable Object[] {
                    item.outcome().code(), item.newRun(), item.note(), settle.plan(), item.run()
                });
            }
        }
        session.updateBatch(SETTLE, rows);
        return ours;
    }

    private ReplayPlanStoreWriteCommand.@Nullable ReplayPlan stop(ReplayPlanStoreWriteCommand.StopPlan stop, long now)
            throws SQLException {
        if (session.update(STOP, stop.by().reason(), now, stop.ws(), stop.plan()) == 1) {
            edits.writeAudit(stop.ws(), now, stop.by(), "replay.stop", ReplayPlanStoreWriteCommand.textOf(stop.plan()));
        }
        return JdbcReplayPlanQueries.find(session, stop.ws(), stop.plan());
    }

    private int delete(ReplayPlanStoreWriteCommand.DeleteOldPlans delete) throws SQLException {
        RunId oldest = session.queryOne(OLDEST, row -> RunId.of(row.getBytes(1)), delete.before());
        if (oldest == null) {
            return 0;
        }
        List<@Nullable Object[]> items = session.queryList(
                OLD_ITEMS, row -> new @Nullable Object[] {row.getBytes(1), row.getBytes(2)}, oldest, delete.limit());
        session.updateBatch(DELETE_ITEM, items);
        return items.isEmpty() ? session.update("DELETE FROM semel_replay_plan WHERE id = ?", oldest) : items.size();
    }
}
