package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Replay;
import dev.semel.store.Replay.Fate;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Executes the store commands about safe-replay plans and their items. */
final class ReplayEdits {
    private static final long VALID_MICROS = Replay.VALID.toNanos() / 1_000;

    private static final String CREATE = """
        INSERT INTO semel_replay_plan (id, ws, created_by, request, input, created_at, valid_until, state, counts,
            approved_by, apply_options,
                                applied_by, note, claimed_by, claimed_until, ended_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, 1, '{}', ?, ?, NULL, '', NULL, 0, 0) ON CONFLICT (id) DO NOTHING
        """;

    private static final String LOCK_PLANNING = "UPDATE semel_replay_plan SET note = note WHERE id = ? AND state = 1";

    private static final String ADD_ITEM = """
        INSERT INTO semel_replay_plan_item (plan, run, worst_action, actions, prediction, outcome, new_run, note)
        VALUES (?, ?, ?, ?, ?, 1, NULL, '') ON CONFLICT (plan, run) DO UPDATE
        SET worst_action = excluded.worst_action, actions = excluded.actions, prediction = excluded.prediction
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

    private final Session session;
    private final Edits edits;

    ReplayEdits(Session session, Edits edits) {
        this.session = session;
        this.edits = edits;
    }

    @Nullable
    Object apply(Replay<?> replay, long now) throws SQLException {
        return switch (replay) {
            case Replay.Lay lay -> lay(lay, now);
            case Replay.Note note -> note(note);
            case Replay.Drop drop -> drop(drop);
            case Replay.Ready ready -> {
                session.update(READY, ready.counts(), now + VALID_MICROS, ready.plan());
                yield JdbcPlans.find(session, 0, ready.plan());
            }
            case Replay.Approve approve -> approve(approve, now);
            case Replay.Begin begin -> begin(begin, now);
            case Replay.Take take ->
                session.update(CLAIM, take.by(), now + take.lasts(), take.plan(), now, take.by()) == 1;
            case Replay.LetGo go -> session.update(RELEASE, go.note(), go.plan(), go.by()) == 1;
            case Replay.Settle settle -> settle(settle);
            case Replay.Finish finish ->
                session.update(FINISH, finish.state().code(), finish.note(), now, finish.plan()) == 1;
            case Replay.Stop stop -> stop(stop, now);
            case Replay.Delete delete -> delete(delete);
        };
    }

    private Replay.Plan lay(Replay.Lay lay, long now) throws SQLException {
        session.update(
                CREATE,
                lay.id(),
                lay.ws(),
                lay.madeBy(),
                lay.wish(),
                lay.input(),
                now,
                now + VALID_MICROS,
                lay.approval() ? null : "",
                lay.how());
        return Objects.requireNonNull(JdbcPlans.find(session, 0, lay.id()));
    }

    private int note(Replay.Note note) throws SQLException {
        if (session.update(LOCK_PLANNING, note.plan()) == 0) {
            return 0;
        }
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (Replay.Item item : note.items()) {
            rows.add(new @Nullable Object[] {note.plan(), item.run(), item.worst(), item.actions(), item.body()});
        }
        session.updateAll(ADD_ITEM, rows);
        return rows.size();
    }

    private int drop(Replay.Drop drop) throws SQLException {
        if (session.update(LOCK_PLANNING, drop.plan()) == 0) {
            return 0;
        }
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (RunId run : drop.runs()) {
            rows.add(new @Nullable Object[] {drop.plan(), run});
        }
        session.updateAll(DELETE_ITEM, rows);
        return rows.size();
    }

    private Replay.@Nullable Plan approve(Replay.Approve approve, long now) throws SQLException {
        String actor = approve.by().actor();
        if (session.update(APPROVE, actor, approve.ws(), approve.plan(), actor) == 1) {
            edits.audit(approve.ws(), now, approve.by(), List.of("replay.approve", Replay.textOf(approve.plan())));
        }
        return JdbcPlans.find(session, approve.ws(), approve.plan());
    }

    private Replay.@Nullable Plan begin(Replay.Begin begin, long now) throws SQLException {
        String actor = begin.by().actor();
        if (session.update(BEGIN, begin.how(), actor, begin.ws(), begin.plan(), now, begin.how()) == 1) {
            edits.audit(begin.ws(), now, begin.by(), List.of("replay.apply", Replay.textOf(begin.plan())));
        }
        return JdbcPlans.find(session, begin.ws(), begin.plan());
    }

    private boolean settle(Replay.Settle settle) throws SQLException {
        String look = settle.items().isEmpty() ? LOCK_OWN : LOCK_OWN_AND_CLEAR_NOTE;
        boolean ours = session.update(look, settle.plan(), settle.by()) == 1;
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (Replay.Item item : settle.items()) {
            if (ours || item.fate() == Fate.APPLIED) {
                rows.add(new @Nullable Object[] {item.fate().code(), item.made(), item.note(), settle.plan(), item.run()
                });
            }
        }
        session.updateAll(SETTLE, rows);
        return ours;
    }

    private Replay.@Nullable Plan stop(Replay.Stop stop, long now) throws SQLException {
        if (session.update(STOP, stop.by().reason(), now, stop.ws(), stop.plan()) == 1) {
            edits.audit(stop.ws(), now, stop.by(), List.of("replay.stop", Replay.textOf(stop.plan())));
        }
        return JdbcPlans.find(session, stop.ws(), stop.plan());
    }

    private int delete(Replay.Delete delete) throws SQLException {
        RunId oldest = session.one(OLDEST, row -> RunId.of(row.getBytes(1)), delete.before());
        if (oldest == null) {
            return 0;
        }
        List<@Nullable Object[]> items = session.list(
                OLD_ITEMS, row -> new @Nullable Object[] {row.getBytes(1), row.getBytes(2)}, oldest, delete.limit());
        session.updateAll(DELETE_ITEM, items);
        return items.isEmpty() ? session.update("DELETE FROM semel_replay_plan WHERE id = ?", oldest) : items.size();
    }
}
