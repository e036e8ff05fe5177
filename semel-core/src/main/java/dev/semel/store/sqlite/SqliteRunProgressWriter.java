package dev.semel.store.sqlite;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.FairRunClaimer;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.jdbc.CommitRejectingJdbcConnection;
import dev.semel.store.jdbc.EffectLedgerRepository;
import dev.semel.store.jdbc.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.JdbcMetricWriter;
import dev.semel.store.jdbc.JdbcSession;
import dev.semel.store.jdbc.WorkflowsWithDueRunsQuery;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.sqlite.ProgressHandler;

/** Writes the progress of runs for the worker that owns them, claims due runs, and records duplicate requests. */
final class SqliteRunProgressWriter {
    /** Virtual machine instructions of SQLite; some milliseconds of work. */
    private static final int INSTRUCTIONS_BETWEEN_CHECKS = 100_000;

    private static final String SET_STATE = """
        UPDATE semel_unfinished_run SET state = ?, crash_count = CASE WHEN ? = 1 THEN 0 ELSE crash_count END
        WHERE run = ? AND owner = ? AND claim_count = ? RETURNING cancel_requested
        """;

    // A negative due_at: the run was woken while its owner suspended it. Its doubt may be decided by then, and a caller
    // who reads the run must not get "in doubt" after the decision.
    private static final String SUSPEND = """
        UPDATE semel_unfinished_run SET owner = NULL,
            state = CASE WHEN due_at < 0 AND ?1 = 5 THEN 3 ELSE ?1 END,
            waiting_for = CASE WHEN due_at < 0 AND ?1 = 5 THEN NULL ELSE ?2 END,
            crash_count = CASE WHEN ?3 = 1 THEN crash_count ELSE 0 END,
            due_at = CASE WHEN due_at < 0 OR cancel_requested > ?4
                OR (SELECT count(*) FROM semel_signal s WHERE s.run = semel_unfinished_run.run) > ?5 THEN 0 ELSE ?6 END
        WHERE run = ?7 AND owner = ?8 AND claim_count = ?9 RETURNING cancel_requested
        """;

    private static final String CLAIM = """
        UPDATE semel_unfinished_run SET owner = ?, claim_count = claim_count + 1, waiting_for = NULL,
            started_at = CASE WHEN state > 1 OR started_at <> 0 THEN started_at
                WHEN cancel_requested = 1 THEN -1 ELSE ? END,
            state = CASE WHEN state IN (4, 5, 6) THEN 3 ELSE MAX(state, 2) END
        WHERE run = ? RETURNING claim_count
        """;

    private static final String FINISH = """
        DELETE FROM semel_unfinished_run WHERE run = ? AND owner = ? AND claim_count = ?
            RETURNING queue_state, has_crashed, started_at
        """;

    private static final String INSERT_RESULT = """
        INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step, entries,
            started_at, ws, workflow_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
            CASE WHEN ?2 > 10 THEN (SELECT r.ws FROM semel_run r WHERE r.run = ?1) END,
            CASE WHEN ?2 > 10 THEN (SELECT r.workflow_id FROM semel_run r WHERE r.run = ?1) END)
        ON CONFLICT (run) DO NOTHING
        """;

    // A run that retention deleted meanwhile gets no request rows.
    private static final String INSERT_REQUEST = """
        INSERT INTO semel_duplicate_request (run, id, ws, conflict, at, status_code, actor, changed_fields,
            request_count, rejected_key)
        SELECT r.run, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM semel_run r WHERE r.run = ? ON CONFLICT (run, id) DO NOTHING
        """;

    private static final String ADD_DUPLICATES = """
        INSERT INTO semel_duplicate_count (run, replays, conflicts, last_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET replays = replays + excluded.replays,
            conflicts = conflicts + excluded.conflicts, last_at = MAX(last_at, excluded.last_at)
        """;

    private final JdbcSession session;
    private final JdbcConcurrencyAndRateLimiter limiter;
    private final MetricUpdateCollector counted;

    SqliteRunProgressWriter(JdbcSession session, MetricUpdateCollector counted) {
        this.session = session;
        this.counted = counted;
        this.limiter = new JdbcConcurrencyAndRateLimiter(session);
    }

    OwnerWriteResult append(StoreWrite.AppendJournal append, @Nullable Long owner, long now) throws SQLException {
        if (owner == null) {
            return OwnerWriteResult.FENCED;
        }
        StoreWrite.RunExecution by = append.by();
        StoreWrite.Suspension rest = append.suspension();
        Integer cancel = rest == null
                ? session.queryOne(
                        SET_STATE,
                        row -> row.getInt(1),
                        append.state().code(),
                        append.isProgress() ? 1 : 0,
                        by.run(),
                        owner,
                        by.claim())
                : session.queryOne(
                        SUSPEND,
                        row -> row.getInt(1),
                        append.state().code(),
                        rest.waitingFor(),
                        rest.suspect() ? 1 : 0,
                        rest.cancelSeen() ? 1 : 0,
                        rest.signals(),
                        rest.due(),
                        by.run(),
                        owner,
                        by.claim());
        if (cancel == null) {
            return OwnerWriteResult.FENCED;
        }
        journal(append, now);
        return new OwnerWriteResult(true, cancel == 1, ledger(append.ops(), now));
    }

    private void journal(StoreWrite.AppendJournal append, long now) throws SQLException {
        if (!append.entries().isEmpty()) {
            session.update("""
                INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING
                """, append.run(), append.seq(), now, append.entries());
        }
    }

    private List<EffectLedger.LedgerDecision> ledger(List<EffectLedger.LedgerOperation> ops, long now)
            throws SQLException {
        List<EffectLedger.LedgerDecision> verdicts = new ArrayList<>(ops.size());
        for (EffectLedger.LedgerOperation op : ops) {
            verdicts.add(EffectLedgerRepository.apply(session, op, now, counted));
        }
        return verdicts;
    }

    OwnerWriteResult end(StoreWrite.EndRun end, @Nullable Long owner, long now) throws SQLException {
        if (owner == null) {
            return OwnerWriteResult.FENCED;
        }
        FinishedExecution gone = session.queryOne(
                FINISH,
                row -> new FinishedExecution(row.getInt(1) != 0, row.getInt(2) == 1, row.getLong(3)),
                end.run(),
                owner,
                end.by().claim());
        if (gone == null) {
            // A retry after a lost response: the lease is still held, so the recorded result is ours.
            boolean ended = session.exists("SELECT 1 FROM semel_finished_run WHERE run = ?", end.run());
            return ended ? OwnerWriteResult.RECORDED : OwnerWriteResult.FENCED;
        }
        StoreWrite.RunResult ending = end.result();
        session.update(
                INSERT_RESULT,
                end.run(),
                end.state().code(),
                now,
                ending.output(),
                ending.errorCode(),
                ending.errorMessage(),
                ending.errorStep(),
                end.entries(),
                gone.startedAt());
        List<EffectLedger.LedgerDecision> verdicts = ledger(end.ops(), now);
        if (gone.isQueued()) {
            limiter.leaveQueues(List.of(end.run()));
        }
        if (end.state() == RunState.COMPLETED && (end.hadFailedAttempt() || gone.hasCrashed())) {
            JdbcMetricWriter.countRecovery(session, end.run(), now, counted);
        }
        return new OwnerWriteResult(true, false, verdicts);
    }

    /** {@code hasCrashed}: a worker died while it executed the run. */
    private record FinishedExecution(boolean isQueued, boolean hasCrashed, long startedAt) {}

    boolean recordDuplicates(StoreWrite.RecordDuplicates tally) throws SQLException {
        for (StoreWrite.DuplicateRequest row : tally.rows()) {
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
                    row.rejectedKey(),
                    row.run());
            if (isNew == 1) {
                session.update(
                        ADD_DUPLICATES,
                        row.run(),
                        row.conflict() ? 0L : row.times(),
                        row.conflict() ? row.times() : 0L,
                        row.at());
                String workflowId = session.queryOne(
                        "SELECT workflow_id FROM semel_run WHERE run = ?", found -> found.getString(1), row.run());
                counted.countDuplicateRequest(row, Objects.requireNonNull(workflowId));
            }
        }
        return true;
    }

    List<StoreWrite.RunExecution> claim(StoreWrite.ClaimRuns claim, @Nullable Long owner, long now)
            throws SQLException {
        if (owner == null || claim.limit() == 0) {
            return List.of();
        }
        List<FairRunClaimer.DueWorkflow> groups = WorkflowsWithDueRunsQuery.list(session, claim, now);
        for (RunId run : limiter.findDueBeforeQueue(groups, claim.limit(), now)) {
            limiter.enterLastQueues(run);
        }
        FairRunClaimer.MemoryFilter memory = new FairRunClaimer.MemoryFilter(claim.memory());
        return FairRunClaimer.claim(claim.limit(), groups, now, claimQuotas -> {
            List<FairRunClaimer.ClaimedRun> claimedRuns = new ArrayList<>();
            for (FairRunClaimer.ClaimQuota claimQuota : claimQuotas) {
                String workflowId = claimQuota.workflow().workflowId();
                for (FairRunClaimer.DueRun due : memory.fitting(free(claimQuota, claim, now))) {
                    RunId run = due.run();
                    Integer claims = session.queryOne(CLAIM, row -> row.getInt(1), owner, now, run);
                    if (claims != null) {
                        claimedRuns.add(
                                new FairRunClaimer.ClaimedRun(workflowId, new StoreWrite.RunExecution(run, claims)));
                    }
                }
            }
            return claimedRuns;
        });
    }

    private List<FairRunClaimer.DueRun> free(FairRunClaimer.ClaimQuota claimQuota, StoreWrite.ClaimRuns claim, long now)
            throws SQLException {
        String workflowId = claimQuota.workflow().workflowId();
        return session.queryList(
                """
                SELECT w.run, (SELECT octet_length(r.input) FROM semel_run r WHERE r.run = w.run),
                    (SELECT sum(octet_length(j.entries)) FROM semel_journal j WHERE j.run = w.run),
                    unread_signals, unread_bytes
                FROM semel_unfinished_run w
                WHERE owner IS NULL AND start_blocked = 0 AND workflow_id = ? AND due_at <= ? AND crash_count <= ?
                    AND (queue_state <> 2 OR cancel_requested = 1)
                ORDER BY due_at, run LIMIT ?
                """,
                row -> new FairRunClaimer.DueRun(
                        workflowId,
                        RunId.of(row.getBytes(1)),
                        row.getLong(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getLong(5)),
                workflowId,
                now,
                claim.maxCrashes(),
                claimQuota.limit());
    }

    /** differs: user code runs in the transaction of the only writer, behind a savepoint of its own. */
    StoreWrite.TransactionResult runTransaction(StoreWrite.UserTransaction tx, @Nullable Long owner, long now)
            throws SQLException {
        StoreWrite.RunExecution by = tx.by();
        Integer cancel =
                owner == null ? null : session.queryOne("""
                    UPDATE semel_unfinished_run SET crash_count = 0
                    WHERE run = ? AND owner = ? AND claim_count = ? RETURNING cancel_requested
                    """, row -> row.getInt(1), by.run(), owner, by.claim());
        if (cancel == null) {
            return OwnerWriteResult.FENCED;
        }
        String known = session.queryOne(
                "SELECT entries FROM semel_journal WHERE run = ? AND seq = ?",
                row -> row.getString(1),
                by.run(),
                tx.seq());
        if (known != null) {
            return OwnerWriteResult.RECORDED; // a retry after a lost response
        }
        Savepoint before = session.connection().setSavepoint("user");
        String entries;
        try {
            entries = runWithDeadline(tx.body());
        } catch (Exception | Error e) {
            undo(before, tx.body(), e);
            return new StoreWrite.RolledBack(e);
        }
        release(before);
        session.update(
                "INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?)",
                by.run(),
                tx.seq(),
                now,
                entries);
        return new OwnerWriteResult(true, cancel == 1, List.of());
    }

    /** Signals that a statement of user code was interrupted, and that SQLite rolled the whole transaction back. */
    static final class StatementStopped extends RuntimeException {
        private static final long serialVersionUID = 1;

        private StatementStopped(SQLException cause) {
            super(cause);
        }
    }

    /** A progress handler interrupts user code after its deadline, so that it cannot block the writer. */
    private String runWithDeadline(StoreWrite.TransactionBody transactionBody) throws Exception {
        ProgressHandler.setHandler(session.connection(), INSTRUCTIONS_BETWEEN_CHECKS, new ProgressHandler() {
            @Override
            protected int progress() {
                return transactionBody.isOverdue() ? 1 : 0;
            }
        });
        try {
            return transactionBody.apply(CommitRejectingJdbcConnection.wrap(session.connection()));
        } finally {
            ProgressHandler.clearHandler(session.connection()); // the rollback must not be interrupted
        }
    }

    /** If the savepoint is gone, user code ended the whole transaction and other writes are lost too. */
    private void undo(Savepoint before, StoreWrite.TransactionBody transactionBody, Throwable failure) {
        try {
            session.connection().rollback(before);
        } catch (SQLException e) {
            e.addSuppressed(failure);
            if (transactionBody.isOverdue()) {
                throw new StatementStopped(e);
            }
            throw new StoreFailure.ValueRejected("User code of a tx step ended the surrounding transaction", e);
        }
    }

    private void release(Savepoint before) {
        try {
            session.connection().releaseSavepoint(before);
        } catch (SQLException e) {
            throw new StoreFailure.ValueRejected("User code of a tx step ended the surrounding transaction", e);
        }
    }
}
