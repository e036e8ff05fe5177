package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;

/** Executes the store commands that users and other runs send to a run: signal, cancel, wake, continue, decide. */
final class RunEdits {
    private static final String SIGNAL = """
        INSERT INTO semel_signal (run, name, key, id, value, at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (run, name, key) DO NOTHING
        """;

    private static final String LOCK_RUN = "UPDATE semel_unfinished_run SET due_at = due_at WHERE run = ?";

    // A wake-up for a run that a worker executes is remembered: with a due time below zero it does not suspend before
    // it has read its signals again.
    private static final String WAKE = """
        UPDATE semel_unfinished_run SET due_at = CASE WHEN owner IS NULL THEN 0 ELSE -1 END WHERE run = ?
        """;

    // A remembered wake-up stays: the execution may suspend although it knows of the cancel.
    private static final String CANCEL = """
        UPDATE semel_unfinished_run SET cancel_requested = 1, start_blocked = 0,
            due_at = CASE WHEN due_at < 0 THEN due_at ELSE 0 END WHERE run = ?
        """;

    private static final String HELD_FOR_CODE = "%\"for\":\"code\"%";
    private static final String HELD_AS_POISON = "%\"for\":\"poison\"%";
    private static final String HELD_BY_STORE = "%\"for\":\"store\"%";

    private final Session session;
    private final Supplier<RunId> ids;
    private final Counted counted;

    RunEdits(Session session, Supplier<RunId> ids, Counted counted) {
        this.counted = counted;
        this.session = session;
        this.ids = ids;
    }

    Edit.Signalled signal(Edit.Signal signal, long now) throws SQLException {
        if (!unfinished(signal.workspace(), signal.run())) {
            return Edit.Signalled.GONE;
        }
        return deliver(signal.run(), new Message(ids.get(), signal.name(), signal.key(), signal.value(), now));
    }

    /** A signal on its way to a run. */
    record Message(RunId id, String name, String key, String value, long at) {}

    Edit.Signalled deliver(RunId run, Message message) throws SQLException {
        int isNew =
                session.update(SIGNAL, run, message.name(), message.key(), message.id(), message.value(), message.at());
        if (isNew == 0) {
            return Edit.Signalled.REPEATED;
        }
        // Locks the row in every state: a run that is being suspended right now reads its signals after its own lock.
        // A run that is in doubt may wait for the signal in another branch.
        boolean found = session.update(
                        """
                        UPDATE semel_unfinished_run SET due_at = CASE WHEN state IN (?, ?) THEN 0 ELSE due_at END
                        WHERE run = ?
                        """,
                        RunState.WAITING.code(),
                        RunState.IN_DOUBT.code(),
                        run)
                == 1;
        return found ? Edit.Signalled.DELIVERED : Edit.Signalled.GONE;
    }

    private boolean unfinished(int workspace, RunId run) throws SQLException {
        return session.one(
                        """
                        SELECT 1 FROM semel_run r JOIN semel_unfinished_run w ON w.run = r.run
                        WHERE r.run = ? AND r.ws = ?
                        """,
                        row -> 1,
                        run,
                        workspace)
                != null;
    }

    boolean cancel(Edit.Cancel cancel) throws SQLException {
        return unfinished(cancel.workspace(), cancel.run()) && session.update(CANCEL, cancel.run()) == 1;
    }

    int wake(Edit.Wake wake) throws SQLException {
        int woken = 0;
        for (RunId run : wake.runs().stream().sorted().toList()) {
            woken += session.update(WAKE, run);
        }
        return woken;
    }

    boolean giveBack(Write.Driver driver) throws SQLException {
        return session.update(
                        """
                        UPDATE semel_unfinished_run SET owner = NULL
                        WHERE run = ? AND claim_count = ? AND owner IS NOT NULL
                        """,
                        driver.run(),
                        driver.claim())
                == 1;
    }

    int wakeHeld(String workflowId) throws SQLException {
        return session.update(
                """
                UPDATE semel_unfinished_run SET due_at = 0
                WHERE workflow_id = ? AND owner IS NULL AND waiting_for LIKE ?
                """,
                workflowId,
                HELD_FOR_CODE);
    }

    boolean goOn(Edit.GoOn on) throws SQLException {
        return unfinished(on.workspace(), on.run())
                && session.update("""
                    UPDATE semel_unfinished_run SET crash_count = 0, due_at = 0
                    WHERE run = ? AND owner IS NULL AND (waiting_for LIKE ? OR waiting_for LIKE ? OR waiting_for LIKE ?)
                    """, on.run(), HELD_FOR_CODE, HELD_AS_POISON, HELD_BY_STORE) == 1;
    }

    boolean decide(Edit.Decide decide, long now) throws SQLException {
        // The run first, then its effect: the lock order of its owner.
        session.update(LOCK_RUN, decide.run());
        session.update(
                "UPDATE semel_effect SET reservation = reservation WHERE ws = ? AND digest = ?",
                decide.effect().workspace(),
                decide.effect().digest());
        Ledger.Row row = Effects.find(session, decide.effect());
        if (row == null
                || row.state() != Ledger.State.UNKNOWN
                || !row.holder().run().equals(decide.run())) {
            return false;
        }
        Ledger.State to = decide.result() == null ? Ledger.State.FREE : Ledger.State.DONE;
        var settle = new Ledger.Settle(row.id(), row.holder(), to, decide.result());
        Ledger.Row decided = Ledger.apply(row, settle, now).row();
        counted.deed(settle, decided);
        if (decided == null) {
            return false;
        }
        Effects.update(session, decided);
        session.update(WAKE, decide.run());
        // The run is no longer in doubt, even before a worker claims it. A resumed run that waits in a queue keeps
        // waiting.
        session.update(
                """
                UPDATE semel_unfinished_run SET waiting_for = NULL, state = ?
                WHERE run = ? AND owner IS NULL AND state <> ?
                """,
                RunState.RUNNING.code(),
                decide.run(),
                RunState.QUEUED.code());
        return true;
    }

    static List<Rows.Signal> signals(Session session, RunId run) throws SQLException {
        return session.list(
                "SELECT id, name, key, value, at FROM semel_signal WHERE run = ? ORDER BY id",
                row -> new Rows.Signal(
                        RunId.of(row.getBytes(1)),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        row.getLong(5)),
                run);
    }
}
