package dev.semel.store.sqlite;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Counted;
import dev.semel.store.Fair;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.store.Write.Owned;
import dev.semel.store.jdbc.Claiming;
import dev.semel.store.jdbc.Counting;
import dev.semel.store.jdbc.Effects;
import dev.semel.store.jdbc.Gating;
import dev.semel.store.jdbc.GuardedConnection;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.sqlite.ProgressHandler;

/** Writes the progress of runs for the worker that owns them, claims due runs, and records duplicate requests. */
final class SqliteDriving {
    /** Virtual machine instructions of SQLite; some milliseconds of work. */
    private static final int INSTRUCTIONS_BETWEEN_CHECKS = 100_000;

    private static final String SET_STATE = """
        UPDATE semel_unfinished_run SET state = ?, crash_count = CASE WHEN ? = 1 THEN 0 ELSE crash_count END
        WHERE run = ? AND owner = ? AND claim_count = ? RETURNING cancel_requested
        """;

    private static final String SUSPEND = """
        UPDATE semel_unfinished_run SET owner = NULL, state = ?, waiting_for = ?,
            crash_count = CASE WHEN ? = 1 THEN crash_count ELSE 0 END,
            due_at = CASE WHEN due_at < 0 OR cancel_requested > ?
                OR (SELECT count(*) FROM semel_signal s WHERE s.run = semel_unfinished_run.run) > ? THEN 0 ELSE ? END
        WHERE run = ? AND owner = ? AND claim_count = ? RETURNING cancel_requested
        """;

    private static final String CLAIM = """
        UPDATE semel_unfinished_run SET owner = ?, claim_count = claim_count + 1, waiting_for = NULL,
            state = CASE WHEN state IN (4, 5) THEN 3 ELSE MAX(state, 2) END
        WHERE run = ? RETURNING claim_count
        """;

    private static final String FINISH = """
        DELETE FROM semel_unfinished_run WHERE run = ? AND owner = ? AND claim_count = ?
            RETURNING queue_state, has_crashed
        """;

    private static final String INSERT_RESULT = """
        INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step, entries,
            ws, workflow_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
            CASE WHEN ?2 > 10 THEN (SELECT r.ws FROM semel_run r WHERE r.run = ?1) END,
            CASE WHEN ?2 > 10 THEN (SELECT r.workflow_id FROM semel_run r WHERE r.run = ?1) END)
        ON CONFLICT (run) DO NOTHING
        """;

    // A run that retention deleted meanwhile gets no request rows.
    private static final String INSERT_REQUEST = """
        INSERT INTO semel_duplicate_request (run, id, ws, conflict, at, status_code, actor, changed_fields,
            request_count)
        SELECT r.run, ?, ?, ?, ?, ?, ?, ?, ? FROM semel_run r WHERE r.run = ? ON CONFLICT (run, id) DO NOTHING
        """;

    private static final String ADD_DUPLICATES = """
        INSERT INTO semel_duplicate_count (run, replays, conflicts, last_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET replays = replays + excluded.replays,
            conflicts = conflicts + excluded.conflicts, last_at = MAX(last_at, excluded.last_at)
        """;

    private final Session session;
    private final Gating gating;
    private final Counted counted;

    SqliteDriving(Session session, Counted counted) {
        this.session = session;
        this.counted = counted;
        this.gating = new Gating(session);
    }

    Owned append(Write.Append append, @Nullable Long owner, long now) throws SQLException {
        if (owner == null) {
            return Owned.FENCED;
        }
        Write.Driver by = append.by();
        Write.Rest rest = append.rest();
        Integer cancel = rest == null
                ? session.one(
                        SET_STATE,
                        row -> row.getInt(1),
                        append.state().code(),
                        append.isProgress() ? 1 : 0,
                        by.run(),
                        owner,
                        by.claim())
                : session.one(
                        SUSPEND,
                        row -> row.getInt(1),
                        append.state().code(),
                        rest.waits(),
                        rest.suspect() ? 1 : 0,
                        rest.cancelled() ? 1 : 0,
                        rest.signals(),
                        rest.due(),
                        by.run(),
                        owner,
                        by.claim());
        if (cancel == null) {
            return Owned.FENCED;
        }
        journal(append, now);
        return new Owned(true, cancel == 1, ledger(append.ops(), now));
    }

    private void journal(Write.Append append, long now) throws SQLException {
        if (!append.entries().isEmpty()) {
            session.update("""
                INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING
                """, append.run(), append.seq(), now, append.entries());
        }
    }

    private List<Ledger.Verdict> ledger(List<Ledger.Op> ops, long now) throws SQLException {
        List<Ledger.Verdict> verdicts = new ArrayList<>(ops.size());
        for (Ledger.Op op : ops) {
            verdicts.add(Effects.apply(session, op, now, counted));
        }
        return verdicts;
    }

    Owned end(Write.End end, @Nullable Long owner, long now) throws SQLException {
        if (owner == null) {
            return Owned.FENCED;
        }
        Gone gone = session.one(
                FINISH,
                row -> new Gone(row.getInt(1) != 0, row.getInt(2) == 1),
                end.run(),
                owner,
                end.by().claim());
        if (gone == null) {
            // A retry after a lost response: the lease is still held, so the recorded result is ours.
            boolean ended = session.one("SELECT 1 FROM semel_finished_run WHERE run = ?", row -> 1, end.run()) != null;
            return ended ? Owned.RECORDED : Owned.FENCED;
        }
        Write.Ending ending = end.ending();
        session.update(
                INSERT_RESULT,
                end.run(),
                end.state().code(),
                now,
                ending.output(),
                ending.errorCode(),
                ending.errorMessage(),
                ending.errorStep(),
                end.entries());
        List<Ledger.Verdict> verdicts = ledger(end.ops(), now);
        if (gone.isQueued()) {
            gating.leave(List.of(end.run()));
        }
        if (end.state() == RunState.COMPLETED && (end.stumbled() || gone.hasCrashed())) {
            Counting.recovered(session, end.run(), now, counted);
        }
        return new Owned(true, false, verdicts);
    }

    /**
     * The state of a run when it finished: whether it was in a queue, and whether a worker died while it executed it.
     */
    private record Gone(boolean isQueued, boolean hasCrashed) {}

    boolean tally(Write.Tally tally) throws SQLException {
        for (Write.Seen row : tally.rows()) {
            int isNew = session.update(
                    INSERT_REQUEST,
                    row.id(),
                    row.workspace(),
                    row.conflict() ? 1 : 0,
                    row.at(),
                    row.statusCode(),
                    row.actor(),
                    row.changed(),
                    row.times(),
                    row.run());
            if (isNew == 1) {
                session.update(
                        ADD_DUPLICATES,
                        row.run(),
                        row.conflict() ? 0L : row.times(),
                        row.conflict() ? row.times() : 0L,
                        row.at());
                String workflowId = session.one(
                        "SELECT workflow_id FROM semel_run WHERE run = ?", found -> found.getString(1), row.run());
                counted.seen(row, Objects.requireNonNull(workflowId));
            }
        }
        return true;
    }

    List<Write.Driver> claim(Write.Claim claim, @Nullable Long owner, long now) throws SQLException {
        if (owner == null || claim.limit() == 0) {
            return List.of();
        }
        List<Fair.Group> groups = Claiming.groups(session, claim, now);
        return Fair.claim(claim.limit(), groups, now, shares -> {
            List<Fair.Taken> taken = new ArrayList<>();
            for (Fair.Share share : shares) {
                String workflowId = share.group().workflowId();
                for (RunId run : free(share, claim, now)) {
                    Integer claims = session.one(CLAIM, row -> row.getInt(1), owner, run);
                    if (claims != null) {
                        taken.add(new Fair.Taken(workflowId, new Write.Driver(run, claims)));
                    }
                }
            }
            return taken;
        });
    }

    private List<RunId> free(Fair.Share share, Write.Claim claim, long now) throws SQLException {
        return session.list(
                """
                SELECT run FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 AND workflow_id = ? AND due_at <= ? AND crash_count <= ?
                ORDER BY due_at, run LIMIT ?
                """, row -> RunId.of(row.getBytes(1)), share.group().workflowId(), now, claim.falls(), share.most());
    }

    /** differs: user code runs in the transaction of the only writer, behind a savepoint of its own. */
    Write.TxOutcome tx(Write.Tx tx, @Nullable Long owner, long now) throws SQLException {
        Write.Driver by = tx.by();
        Integer cancel = owner == null
                ? null
                : session.one(
                        """
                        UPDATE semel_unfinished_run SET crash_count = 0
                        WHERE run = ? AND owner = ? AND claim_count = ? RETURNING cancel_requested
                        """,
                        row -> row.getInt(1),
                        by.run(),
                        owner,
                        by.claim());
        if (cancel == null) {
            return Owned.FENCED;
        }
        String known = session.one(
                "SELECT entries FROM semel_journal WHERE run = ? AND seq = ?",
                row -> row.getString(1),
                by.run(),
                tx.seq());
        if (known != null) {
            return Owned.RECORDED; // a retry after a lost response
        }
        Savepoint before = session.connection().setSavepoint("user");
        String entries;
        try {
            entries = runWithDeadline(tx.deed());
        } catch (Exception | Error e) {
            undo(before, tx.deed(), e);
            return new Write.Undone(e);
        }
        release(before);
        session.update(
                "INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?)",
                by.run(),
                tx.seq(),
                now,
                entries);
        return new Owned(true, cancel == 1, List.of());
    }

    /** Signals that a statement of user code was interrupted, and that SQLite rolled the whole transaction back. */
    static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1;

        private Stopped(SQLException cause) {
            super(cause);
        }
    }

    /**
     * Runs user code with a progress handler that interrupts it after its deadline, so that it cannot block the writer.
     */
    private String runWithDeadline(Write.Deed deed) throws Exception {
        ProgressHandler.setHandler(session.connection(), INSTRUCTIONS_BETWEEN_CHECKS, new ProgressHandler() {
            @Override
            protected int progress() {
                return deed.isLate() ? 1 : 0;
            }
        });
        try {
            return deed.apply(GuardedConnection.around(session.connection()));
        } finally {
            ProgressHandler.clearHandler(session.connection()); // the rollback must not be interrupted
        }
    }

    /**
     * Rolls back to the savepoint. If it is gone, user code ended the whole transaction and other writes are lost too.
     */
    private void undo(Savepoint before, Write.Deed deed, Throwable failure) {
        try {
            session.connection().rollback(before);
        } catch (SQLException e) {
            e.addSuppressed(failure);
            if (deed.isLate()) {
                throw new Stopped(e);
            }
            throw new StoreFailure.Poisoned("User code of a tx step ended the surrounding transaction", e);
        }
    }

    private void release(Savepoint before) {
        try {
            session.connection().releaseSavepoint(before);
        } catch (SQLException e) {
            throw new StoreFailure.Poisoned("User code of a tx step ended the surrounding transaction", e);
        }
    }
}
