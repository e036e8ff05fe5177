package dev.semel.store.postgres;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.session.CommitRejectingJdbcConnection;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * The fence is locked after the user code, which may be slow: a takeover never waits for it, and the rows of a worker
 * that lost its lease are rolled back.
 */
final class PostgresUserTransactionWriter implements WorkflowStore.BatchWriter {
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
    private final LaneSession connection;

    PostgresUserTransactionWriter(PostgresStore store) {
        this.store = store;
        this.connection = new LaneSession(store, PostgresConnectionPurpose.TX);
    }

    /** A run that this worker owns: whether its cancel was requested, and a count that the statement defines. */
    private record RunCheck(boolean cancel, long number) {}

    @Override
    public List<Object> apply(CommitBatch batch) {
        if (batch.writes().size() != 1 || !(batch.writes().getFirst() instanceof StoreWrite.UserTransaction tx)) {
            throw new IllegalArgumentException("This lane accepts one user transaction per batch");
        }
        CommitBatch.LeaseSlot hold = batch.leaseSlot();
        return List.of(hold == null ? OwnerWriteResult.FENCED : apply(tx, hold));
    }

    private StoreWrite.TransactionResult apply(StoreWrite.UserTransaction tx, CommitBatch.LeaseSlot hold) {
        JdbcSession session;
        Duration longest = tx.body().timeLimit();
        try {
            session = connection.connected();
            RunCheck check = session.queryOne(
                    CHECK,
                    PostgresUserTransactionWriter::checkRun,
                    tx.seq(),
                    tx.by().run(),
                    hold.lease(),
                    claim(tx));
            if (check == null || check.number() > 0) {
                session.connection().rollback();
                return check == null ? OwnerWriteResult.FENCED : recorded(check); // a retry after a lost response
            }
            if (longest != null) {
                limit(session, Math.clamp(longest.toMillis() + 1, 1, PostgresConnectionPurpose.TX.statementMillis()));
            }
        } catch (SQLException e) {
            connection.drop(e);
            throw SqlStateClassifier.of(e);
        }
        String entries;
        try {
            entries = tx.body().apply(CommitRejectingJdbcConnection.wrap(session.connection()));
        } catch (Exception | Error e) {
            return undone(e);
        }
        StoreWrite.TransactionResult outcome;
        try {
            if (longest != null) {
                limit(
                        session,
                        PostgresConnectionPurpose.TX.statementMillis()); // the journal entry has the usual time limit
            }
            outcome = record(session, tx, hold, entries);
        } catch (SQLException e) {
            connection.drop(e);
            if (isOver(e)) {
                return new StoreWrite.RolledBack(e);
            }
            if (SqlStateClassifier.isSessionUnusable(e)) {
                return new StoreWrite.RolledBack(unusableSession(e));
            }
            throw SqlStateClassifier.of(e);
        } catch (RuntimeException | Error e) {
            connection.drop(e); // the next transaction must not commit what this one left
            throw e;
        }
        return outcome;
    }

    /** Sets the statement timeout of the server, slightly longer than the deadline by our clock. */
    private static void limit(JdbcSession session, int millis) throws SQLException {
        session.queryOne(LIMIT, row -> row.getString(1), String.valueOf(millis));
    }

    private static SemelException unusableSession(SQLException e) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "Semel cannot write the journal entry of a tx step, because the code of the step changed the session ("
                        + e.getSQLState() + "). The database changes of this step were rolled back.",
                "Reset the search_path, the role and read-only mode before the code returns, or use SET LOCAL.",
                e);
    }

    private static int claim(StoreWrite.UserTransaction tx) {
        return tx.by().claim();
    }

    private static RunCheck checkRun(java.sql.ResultSet row) throws SQLException {
        return new RunCheck(row.getInt(1) == 1, row.getLong(2));
    }

    private static OwnerWriteResult recorded(RunCheck check) {
        return new OwnerWriteResult(true, check.cancel(), List.of());
    }

    private StoreWrite.TransactionResult record(
            JdbcSession session, StoreWrite.UserTransaction tx, CommitBatch.LeaseSlot hold, String entries)
            throws SQLException {
        Long now = session.queryOne(FENCE, row -> row.getLong(1), hold.lease(), hold.slot());
        if (now == null) {
            session.connection().rollback();
            throw new StoreFailure.Fenced(hold.lease());
        }
        RunCheck check = session.queryOne(
                LOCK, PostgresUserTransactionWriter::checkRun, tx.by().run(), hold.lease(), claim(tx));
        if (check == null) {
            session.connection().rollback();
            return OwnerWriteResult.FENCED;
        }
        if (check.number() > 0) {
            session.update(
                    "UPDATE semel_unfinished_run SET crash_count = 0 WHERE run = ?",
                    tx.by().run());
        }
        if (session.update(RECORD, tx.by().run(), tx.seq(), now + store.skew(), entries) == 0) {
            // An earlier attempt was committed after all: this one must not be committed too.
            session.connection().rollback();
            return recorded(check);
        }
        return commit(session, check);
    }

    private StoreWrite.TransactionResult commit(JdbcSession session, RunCheck check) {
        try {
            session.connection().commit();
            return recorded(check);
        } catch (SQLException e) {
            connection.drop(e);
            StoreFailure failure = SqlStateClassifier.ofCommit(e);
            if (failure instanceof StoreFailure.CommitUnknown || failure instanceof StoreFailure.LockConflict) {
                throw failure;
            }
            return new StoreWrite.RolledBack(e); // a deferred constraint of the user rejected the rows
        }
    }

    private StoreWrite.TransactionResult undone(Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            connection.drop(e); // the server rolls back when the connection closes
        }
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            if (cause instanceof SQLException e
                    && SqlStateClassifier.of(e) instanceof StoreFailure.LockConflict locked
                    && !locked.waited()) {
                throw locked;
            }
        }
        return new StoreWrite.RolledBack(failure);
    }

    /** User code swallowed a failed statement, or paused too long. */
    private static boolean isOver(SQLException e) {
        return "25P02".equals(e.getSQLState()) || "25P03".equals(e.getSQLState());
    }

    @Override
    public void close() {
        connection.close();
    }
}
