package dev.semel.store.jdbc;

import dev.semel.effect.EffectLedger;
import dev.semel.json.SizeLimits;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** Executes the store commands that users and other runs send to a run: signal, cancel, wake, continue, decide. */
final class JdbcCancelAndSignalWriter {
    private static final String SIGNAL = """
        INSERT INTO semel_signal (run, name, key, id, value, at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (run, name, key) DO NOTHING
        """;

    // Locks the row in every state: a run that is being suspended right now reads its signals after its own lock.
    // A run that is in doubt may wait for the signal in another branch.
    private static final String RECEIVE = """
        UPDATE semel_unfinished_run SET due_at = CASE WHEN state IN (?, ?, ?) THEN 0 ELSE due_at END,
            unread_signals = unread_signals + 1, unread_bytes = unread_bytes + ?
        WHERE run = ? AND unread_signals < ? AND unread_bytes <= ?
        """;

    private static final String HAS_UNREAD = """
        SELECT 1 FROM semel_signal WHERE run = ? AND name = ? AND key <> ? AND octet_length(value) > 0 LIMIT 1
        """;

    private static final String DISCARD = """
        UPDATE semel_unfinished_run SET unread_signals = unread_signals - 1, unread_bytes = unread_bytes - ?
        WHERE run = ?
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

    private final JdbcSession session;
    private final Supplier<RunId> ids;
    private final MetricUpdateCollector counted;

    JdbcCancelAndSignalWriter(JdbcSession session, Supplier<RunId> ids, MetricUpdateCollector counted) {
        this.counted = counted;
        this.session = session;
        this.ids = ids;
    }

    StoreWriteCommand.SignalResult sendSignal(StoreWriteCommand.SendSignal signal, long now) throws SQLException {
        if (!unfinished(signal.workspace(), signal.run())) {
            return StoreWriteCommand.SignalResult.GONE;
        }
        return deliver(signal.run(), new SignalMessage(ids.get(), signal.name(), signal.key(), signal.value(), now));
    }

    record SignalMessage(RunId id, String name, String key, String value, long at) {}

    StoreWriteCommand.SignalResult deliver(RunId run, SignalMessage message) throws SQLException {
        int isNew =
                session.update(SIGNAL, run, message.name(), message.key(), message.id(), message.value(), message.at());
        if (isNew == 0) {
            return StoreWriteCommand.SignalResult.REPEATED;
        }
        // Decisions and keyed signals are not limited: each belongs to one wait of the run.
        if (receive(run, message, message.name().startsWith("#") ? Integer.MAX_VALUE : 1)
                || (!session.exists(HAS_UNREAD, run, message.name(), message.key()) && receive(run, message, 2))) {
            return StoreWriteCommand.SignalResult.DELIVERED;
        }
        session.update(
                "DELETE FROM semel_signal WHERE run = ? AND name = ? AND key = ?", run, message.name(), message.key());
        return session.exists("SELECT 1 FROM semel_unfinished_run WHERE run = ?", run)
                ? StoreWriteCommand.SignalResult.FULL
                : StoreWriteCommand.SignalResult.GONE;
    }

    /** The first signal of a name may use twice the limits, so that a flood of another name does not block the run. */
    private boolean receive(RunId run, SignalMessage message, int times) throws SQLException {
        int bytes = message.value().getBytes(StandardCharsets.UTF_8).length;
        long most = (long) SizeLimits.DEFAULT.unreadSignals() * times - bytes;
        return session.update(
                        RECEIVE,
                        RunState.WAITING.code(),
                        RunState.IN_DOUBT.code(),
                        RunState.HELD.code(),
                        bytes,
                        run,
                        (long) SizeLimits.UNREAD_SIGNAL_COUNT * times,
                        most)
                == 1;
    }

    boolean discard(StoreWriteCommand.DiscardSignal recorded) throws SQLException {
        RunId run = recorded.run();
        Long bytes = session.queryOne(
                "SELECT octet_length(value) FROM semel_signal WHERE run = ? AND name = ? AND key = ?",
                row -> row.getLong(1),
                run,
                recorded.name(),
                recorded.key());
        return bytes != null
                && bytes > 0
                && session.update(DISCARD, bytes, run) == 1
                && session.update(
                                "UPDATE semel_signal SET value = '' WHERE run = ? AND name = ? AND key = ?",
                                run,
                                recorded.name(),
                                recorded.key())
                        == 1;
    }

    private boolean unfinished(int workspace, RunId run) throws SQLException {
        return session.exists("""
            SELECT 1 FROM semel_run r JOIN semel_unfinished_run w ON w.run = r.run
            WHERE r.run = ? AND r.ws = ?
            """, run, workspace);
    }

    boolean cancel(StoreWriteCommand.CancelRun cancel) throws SQLException {
        return unfinished(cancel.workspace(), cancel.run()) && session.update(CANCEL, cancel.run()) == 1;
    }

    int wake(StoreWriteCommand.WakeRuns wake) throws SQLException {
        int woken = 0;
        for (RunId run : wake.runs().stream().sorted().toList()) {
            woken += session.update(WAKE, run);
        }
        return woken;
    }

    boolean returnRun(StoreWrite.RunExecution driver) throws SQLException {
        return session.update("""
            UPDATE semel_unfinished_run SET owner = NULL
            WHERE run = ? AND claim_count = ? AND owner IS NOT NULL
            """, driver.run(), driver.claim()) == 1;
    }

    int wakeHeld(String workflowId) throws SQLException {
        return session.update("""
            UPDATE semel_unfinished_run SET due_at = 0
            WHERE workflow_id = ? AND owner IS NULL AND waiting_for LIKE ?
            """, workflowId, HELD_FOR_CODE);
    }

    boolean continueHeld(StoreWriteCommand.ContinueHeldRun on) throws SQLException {
        return unfinished(on.workspace(), on.run()) && session.update("""
            UPDATE semel_unfinished_run SET crash_count = 0, due_at = 0
            WHERE run = ? AND owner IS NULL AND state = ?
            """, on.run(), RunState.HELD.code()) == 1;
    }

    boolean decideEffect(StoreWriteCommand.DecideEffect decide, long now) throws SQLException {
        // The run first, then its effect: the lock order of its owner.
        session.update(LOCK_RUN, decide.run());
        session.update(
                "UPDATE semel_effect SET reservation = reservation WHERE ws = ? AND digest = ?",
                decide.effect().workspace(),
                decide.effect().digest());
        EffectLedger.EffectRow row = EffectLedgerRepository.find(session, decide.effect());
        if (row == null
                || row.state() != EffectLedger.EffectState.UNKNOWN
                || !row.holder().run().equals(decide.run())) {
            return false;
        }
        EffectLedger.EffectState to =
                decide.result() == null ? EffectLedger.EffectState.FREE : EffectLedger.EffectState.DONE;
        var settle = new EffectLedger.SettleSend(row.id(), row.holder(), to, decide.result());
        EffectLedger.EffectRow decided = EffectLedger.apply(row, settle, now).row();
        counted.countEffect(settle, decided);
        if (decided == null) {
            return false;
        }
        EffectLedgerRepository.update(session, decided);
        session.update(WAKE, decide.run());
        // The run is no longer in doubt, even before a worker claims it. A resumed run that waits in a queue keeps
        // waiting.
        session.update("""
            UPDATE semel_unfinished_run SET waiting_for = NULL, state = ?
            WHERE run = ? AND owner IS NULL AND state <> ? AND (queue_state <> 2 OR start_blocked = 0)
            """, RunState.RUNNING.code(), decide.run(), RunState.QUEUED.code());
        return true;
    }

    static int countSignals(JdbcSession session, RunId run) throws SQLException {
        return Objects.requireNonNull(
                session.queryOne("SELECT count(*) FROM semel_signal WHERE run = ?", row -> row.getInt(1), run));
    }

    static String findValue(JdbcSession session, RunId run, DatabaseRows.UnreadSignal signal) throws SQLException {
        return Objects.requireNonNull(session.queryOne(
                "SELECT value FROM semel_signal WHERE run = ? AND name = ? AND key = ?",
                row -> row.getString(1),
                run,
                signal.name(),
                signal.key()));
    }

    static List<DatabaseRows.UnreadSignal> listUnread(JdbcSession session, RunId run) throws SQLException {
        return session.queryList(
                """
                SELECT id, name, key, octet_length(value) FROM semel_signal
                WHERE run = ? AND octet_length(value) > 0 ORDER BY id
                """,
                row -> new DatabaseRows.UnreadSignal(
                        RunId.of(row.getBytes(1)), row.getString(2), row.getString(3), row.getLong(4)),
                run);
    }

    static List<DatabaseRows.SignalRow> listSignals(JdbcSession session, RunId run) throws SQLException {
        return session.queryList(
                "SELECT id, name, key, value, at FROM semel_signal WHERE run = ? ORDER BY id",
                row -> new DatabaseRows.SignalRow(
                        RunId.of(row.getBytes(1)),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        row.getLong(5)),
                run);
    }
}
