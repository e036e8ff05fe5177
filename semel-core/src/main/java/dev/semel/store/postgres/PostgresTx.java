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
 * The user's own rows and the record of the step in one commit, on a connection that no lane uses. The user's code runs
 * first and may be slow; the fence is taken after it, so that a takeover never waits for user code and user code of a
 * worker that lost its lease is undone.
 */
final class PostgresTx implements Lane {
    private static final String LOOK = """
        SELECT w.cancel_requested, (SELECT count(*) FROM semel_journal j WHERE j.run = w.run AND j.seq = ?)
        FROM semel_unfinished_run w WHERE w.run = ? AND w.owner = ? AND w.claim_count = ?
        """;

    // A statement of its own: inside a data statement the snapshot would be older than the lock.
    private static final String FENCE = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE
        """;

    private static final String LOCK = """
        SELECT cancel_requested, crash_count FROM semel_unfinished_run WHERE run = ? AND owner = ? AND claim_count = ? FOR NO KEY UPDATE
        """;

    // Where the answer to an earlier COMMIT was lost, this waits until that transaction is over.
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

    private record Standing(boolean cancel, long number) {}

    @Override
    public List<Object> apply(Batch batch) {
        if (batch.writes().size() != 1 || !(batch.writes().getFirst() instanceof Write.Tx tx)) {
            throw new IllegalArgumentException("this lane takes one transaction of the user at a time");
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
                    session.one(LOOK, PostgresTx::standing, tx.seq(), tx.by().run(), hold.lease(), claim(tx));
            if (standing == null || standing.number() > 0) {
                session.connection().rollback();
                return standing == null ? Owned.FENCED : recorded(standing); // applied before; its answer was lost
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
                limit(session, Purpose.TX.statementMillis()); // the record has its usual time again
            }
            outcome = record(session, tx, hold, entries);
        } catch (SQLException e) {
            abandon(e);
            if (isOver(e)) {
                return new Write.Undone(e);
            }
            if (Failures.isAstray(e)) {
                return new Write.Undone(astray(e));
            }
            throw Failures.of(e);
        }
        return outcome;
    }

    /** The server ends a statement that takes longer, a moment after it is late by our clock as well. */
    private static void limit(Session session, int millis) throws SQLException {
        session.one(LIMIT, row -> row.getString(1), String.valueOf(millis));
    }

    private static SemelException astray(SQLException e) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The code of a tx step left its session so that its record cannot be written (" + e.getSQLState()
                        + "). The rows of the step are undone.",
                "Set back what it changed before it returns: the search_path, the role, read-only.",
                e);
    }

    private static int claim(Write.Tx tx) {
        return tx.by().claim();
    }

    private static Standing standing(java.sql.ResultSet row) throws SQLException {
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
        Standing standing = session.one(LOCK, PostgresTx::standing, tx.by().run(), hold.lease(), claim(tx));
        if (standing == null) {
            session.connection().rollback();
            return Owned.FENCED;
        }
        if (standing.number() > 0) {
            session.update(
                    "UPDATE semel_unfinished_run SET crash_count = 0 WHERE run = ?", tx.by().run());
        }
        if (session.update(RECORD, tx.by().run(), tx.seq(), now + store.skew(), entries) == 0) {
            // An earlier try of ours was committed after all: what was done just now is one too many.
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
            return new Write.Undone(e); // a check that the user's rows wait for until the commit, and that they failed
        }
    }

    private Write.TxOutcome undone(Throwable failure) {
        Session current = session;
        try {
            if (current != null) {
                current.connection().rollback();
            }
        } catch (SQLException e) {
            abandon(e); // without its connection the server undoes it too
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
     * The user's code came back, but its transaction was over before: a failed statement that it swallowed, or a pause
     * that was too long.
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
