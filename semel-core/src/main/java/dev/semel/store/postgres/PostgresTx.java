package dev.semel.store.postgres;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Batch;
import dev.semel.store.Lane;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.store.Write.Owned;
import dev.semel.store.jdbc.GuardedConnection;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the user code of a {@code tx} step and commits its rows together with the step's journal entry, on a connection
 * of its own. The fence is locked after the user code, which may be slow, so that a takeover never waits for it and the
 * rows of a worker that lost its lease are rolled back.
 */
final class PostgresTx implements Lane {
    private static final String CHECK = """
        SELECT w.cancel_requested, (SELECT count(*) FROM semel_journal j WHERE j.run = w.run AND j.seq = ?)
        FROM semel_unfinished_run w WHERE w.run = ? AND w.owner = ? AND w.claim_count = ?
        """;

    // A statement of its own: inside a data statement the snapshot would be older than the lock.
    private static final String FENCE = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE
        """;

    private static final String LOCK = """
        SELECT cancel_requested, crash_count FROM semel_unfinished_run WHERE run = ? AND owner = ?
            AND claim_count = ? FOR NO KEY UPDATE
        """;

    // If the response to an earlier COMMIT was lost, this waits until that transaction ends.
    private static final String RECORD = """
        INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING
        """;

    // Local: it ends with the transaction, however that ends.
    private static final String LIMIT = "SELECT set_config('statement_timeout', ?, true)";

    private static final int DEEPEST_CAUSE = 20;

    private final PostgresStore store;
    private @Nullable Session session;

    PostgresTx(PostgresStore store) {
        this.store = store;
    }

    /** A run that this worker owns: whether its cancel was requested, and a count that the statement defines. */
    private record Standing(boolean cancel, long number) {}

    @Override
    public List<Object> apply(Batch batch) {
        if (batch.writes().size() != 1 || !(batch.writes().getFirst() instanceof Write.Tx tx)) {
            throw new IllegalArgumentException("This lane accepts one user transaction per batch");
        }
        Batch.Hold hold = batch.hold();
        return List.of(hold == null ? Owned.FENCED : apply(tx, hold));
    }

    private Write.TxOutcome apply(Write.Tx tx, Batch.Hold hold) {
        Session session;
        Duration longest = tx.deed().longest();
        try {
            session = connected();
            Standing standing =
                    session.one(CHECK, PostgresTx::readStanding, tx.seq(), tx.by().run(), hold.lease(), claim(tx));
            if (standing == null || standing.number() > 0) {
                session.connection().rollback();
                return standing == null ? Owned.FENCED : recorded(standing); // a retry after a lost response
            }
            if (longest != null) {
                limit(session, Math.clamp(longest.toMillis() + 1, 1, Purpose.TX.statementMillis()));
            }
        } catch (SQLException e) {
            abandon(e);
            throw Failures.of(e);
        }
        String entries;
        try {
            entries = tx.deed().apply(GuardedConnection.around(session.connection()));
        } catch (Exception | Error e) {
            return undone(e);
        }
        Write.TxOutcome outcome;
        try {
            if (longest != null) {
                limit(session, Purpose.TX.statementMillis()); // the journal entry has the usual time limit
            }
            outcome = record(session, tx, hold, entries);
        } catch (SQLException e) {
            abandon(e);
            if (isOver(e)) {
                return new Write.Undone(e);
            }
            if (Failures.isAstray(e)) {
                return new Write.Undone(unusableSession(e));
            }
            throw Failures.of(e);
        }
        return outcome;
    }

    /** Sets the statement timeout of the server, slightly longer than the deadline by our clock. */
    private static void limit(Session session, int millis) throws SQLException {
        session.one(LIMIT, row -> row.getString(1), String.valueOf(millis));
    }

    private static SemelException unusableSession(SQLException e) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "Semel cannot write the journal entry of a tx step, because its user code changed the session ("
                        + e.getSQLState() + "). The rows of the step were rolled back.",
                "Reset the search_path, the role and read-only mode before the code returns, or use SET LOCAL.",
                e);
    }

    private static int claim(Write.Tx tx) {
        return tx.by().claim();
    }

    private static Standing readStanding(java.sql.ResultSet row) throws SQLException {
        return new Standing(row.getInt(1) == 1, row.getLong(2));
    }

    private static Owned recorded(Standing standing) {
        return new Owned(true, standing.cancel(), List.of());
    }

    private Write.TxOutcome record(Session session, Write.Tx tx, Batch.Hold hold, String entries) throws SQLException {
        Long now = session.one(FENCE, row -> row.getLong(1), hold.lease(), hold.slot());
        if (now == null) {
            session.connection().rollback();
            throw new StoreFailure.Fenced(hold.lease());
        }
        Standing standing = session.one(LOCK, PostgresTx::readStanding, tx.by().run(), hold.lease(), claim(tx));
        if (standing == null) {
            session.connection().rollback();
            return Owned.FENCED;
        }
        if (standing.number() > 0) {
            session.update(
                    "UPDATE semel_unfinished_run SET crash_count = 0 WHERE run = ?", tx.by().run());
        }
        if (session.update(RECORD, tx.by().run(), tx.seq(), now + store.skew(), entries) == 0) {
            // An earlier attempt was committed after all: this one must not be committed too.
            session.connection().rollback();
            return recorded(standing);
        }
        return commit(session, standing);
    }

    private Write.TxOutcome commit(Session session, Standing standing) {
        try {
            session.connection().commit();
            return recorded(standing);
        } catch (SQLException e) {
            abandon(e);
            StoreFailure failure = Failures.ofCommit(e);
            if (failure instanceof StoreFailure.CommitUnknown || failure instanceof StoreFailure.Locked) {
                throw failure;
            }
            return new Write.Undone(e); // a deferred constraint of the user rejected the rows
        }
    }

    private Write.TxOutcome undone(Throwable failure) {
        Session current = session;
        try {
            if (current != null) {
                current.connection().rollback();
            }
        } catch (SQLException e) {
            abandon(e); // the server rolls back when the connection closes
        }
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            if (cause instanceof SQLException e
                    && Failures.of(e) instanceof StoreFailure.Locked locked
                    && !locked.waited()) {
                throw locked;
            }
        }
        return new Write.Undone(failure);
    }

    /**
     * Whether the transaction ended before the user code returned: it swallowed a failed statement, or paused too long.
     */
    private static boolean isOver(SQLException e) {
        return "25P02".equals(e.getSQLState()) || "25P03".equals(e.getSQLState());
    }

    private Session connected() throws SQLException {
        Session current = session;
        if (current == null) {
            current = new Session(store.connect(Purpose.TX));
            session = current;
        }
        return current;
    }

    private void abandon(Exception cause) {
        Session current = session;
        session = null;
        try {
            if (current != null) {
                current.close();
            }
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        abandon(new IllegalStateException("closed"));
    }
}
