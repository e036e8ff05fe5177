package dev.semel.store.postgres;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.FairRunClaimer;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.NullWriteResultPlaceholder;
import dev.semel.store.StoreBatchWriter;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.JdbcMetricWriter;
import dev.semel.store.jdbc.JdbcSession;
import dev.semel.store.jdbc.StoreWriteCommandExecutor;
import dev.semel.store.jdbc.WorkflowsWithDueRunsQuery;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All batches run statements in one fixed order and lock rows sorted, so that two batches never deadlock. */
final class PostgresBatchWriter implements StoreBatchWriter {
    // The fence is a statement of its own: inside a data statement the snapshot would be older than the lock. The
    // catalog revision is read after the lock, because PostgreSQL reads an updated row again.
    private static final String FENCE = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, catalog_revision
        FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE
        """;

    // Without a slot the batch locks the catalog itself, so that it does not change before the batch ends.
    private static final String CLOCK = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, revision
        FROM semel_catalog WHERE singleton = 1 FOR SHARE
        """;

    private static final String LOCK_CATALOG = "SELECT revision FROM semel_catalog WHERE singleton = 1 FOR UPDATE";

    private static final String LOCK_SLOTS = "SELECT slot FROM semel_fence ORDER BY lease, slot FOR NO KEY UPDATE";

    private static final String FREE = """
        WITH free AS MATERIALIZED (
            SELECT share.workflow_id, one.run, one.due_at, one.unread_signals, one.unread_bytes
            FROM unnest(?::text[], ?::int[]) AS share(workflow_id, most) CROSS JOIN LATERAL (
                SELECT run, due_at, unread_signals, unread_bytes FROM semel_unfinished_run w
                WHERE w.workflow_id = share.workflow_id
                    AND owner IS NULL AND start_blocked = 0 AND due_at <= ? AND crash_count <= ?
                    AND (queue_state <> 2 OR cancel_requested = 1)
                ORDER BY due_at, run LIMIT share.most FOR UPDATE SKIP LOCKED) AS one)
        SELECT workflow_id, run, (SELECT octet_length(r.input) FROM semel_run r WHERE r.run = free.run),
            (SELECT sum(octet_length(j.entries)) FROM semel_journal j WHERE j.run = free.run),
            unread_signals, unread_bytes
        FROM free ORDER BY due_at, run
        """;

    private static final String CLAIM = """
        UPDATE semel_unfinished_run w SET owner = ?, claim_count = w.claim_count + 1, waiting_for = NULL,
            started_at = CASE WHEN w.state > 1 OR w.started_at <> 0 THEN w.started_at
                WHEN w.cancel_requested = 1 THEN -1 ELSE ? END,
            state = CASE WHEN w.state IN (4, 5, 6) THEN 3 ELSE GREATEST(w.state, 2) END
        WHERE w.run = ANY (?::bytea[]) RETURNING w.run, w.claim_count, w.workflow_id
        """;

    private static final String TRY_LOCK_QUEUE = "SELECT queue FROM semel_queue WHERE queue = ? FOR UPDATE SKIP LOCKED";

    private static final String TRY_LOCK_DUE_RUN = """
        SELECT 1 FROM semel_unfinished_run WHERE run = ? AND owner IS NULL AND start_blocked = 0 AND queue_state = 2
            AND cancel_requested = 0 FOR NO KEY UPDATE SKIP LOCKED
        """;

    private final PostgresStore store;
    private final LaneSession connection;

    PostgresBatchWriter(PostgresStore store) {
        this.store = store;
        this.connection = new LaneSession(store, PostgresConnectionPurpose.LANE);
    }

    @Override
    public List<Object> apply(CommitBatch batch) {
        List<Object> outcomes;
        try {
            outcomes = applyAll(connection.connected(), batch);
        } catch (SQLException e) {
            connection.drop(e);
            throw SqlStateClassifier.of(e);
        } catch (RuntimeException e) {
            rollback(e);
            throw e;
        } catch (Error e) {
            connection.drop(e); // the next batch must not commit what this one left
            throw e;
        }
        try {
            connection.connected().connection().commit();
            return outcomes;
        } catch (SQLException e) {
            connection.drop(e);
            throw SqlStateClassifier.ofCommit(e);
        } catch (RuntimeException | Error e) {
            connection.drop(e);
            throw e;
        }
    }

    private List<Object> applyAll(JdbcSession session, CommitBatch batch) throws SQLException {
        if (batch.changesCatalog()) {
            lockCatalogAndSlots(session);
        }
        PostgresTriggerAdmissionWriter.BatchContext context = fence(session, batch.leaseSlot());
        long now = context.now();
        Object[] outcomes = new Object[batch.writes().size()];
        MetricUpdateCollector counted = new MetricUpdateCollector();
        // Before their locks: a rejected trigger must leave no row, not even one inserted only to be locked.
        List<IndexedWrite<StoreWrite.AdmitRun>> admits = StaleWorkflowCatalogTriggerRejector.rejectStale(
                session, context, pick(batch, StoreWrite.AdmitRun.class), outcomes);
        List<IndexedWrite<StoreWrite.RecordDuplicates>> tallies = pick(batch, StoreWrite.RecordDuplicates.class);
        List<RunProgressBatchItem> turns = RunProgressBatchItem.of(batch.writes());
        PostgresBatchRowLocker locks = new PostgresBatchRowLocker(session, now);
        locks.lockAll(batch, admits, turns);
        if (!admits.isEmpty()) {
            new PostgresTriggerAdmissionWriter(session, store.skew(), context, counted).apply(admits, locks, outcomes);
        }
        PostgresRunProgressWriter driving = new PostgresRunProgressWriter(session, context, locks, counted);
        driving.writeOwned(turns, decided(batch), outcomes);
        if (!tallies.isEmpty()) {
            driving.recordDuplicates(tallies, outcomes);
        }
        StoreWriteCommandExecutor edits = new StoreWriteCommandExecutor(session, store.ids(), counted);
        for (int i = 0; i < outcomes.length; i++) {
            switch (batch.writes().get(i)) {
                case StoreWrite.ClaimRuns claim -> outcomes[i] = claim(session, claim, context);
                case StoreWrite.UserTransaction _ ->
                    throw new UnsupportedOperationException("A user transaction needs a lane of its own");
                case StoreWrite.ExecuteCommand<?> change -> {
                    Object absent = locks.outcomeIfAbsent(change.command());
                    outcomes[i] = absent != null
                            ? absent
                            : NullWriteResultPlaceholder.wrap(edits.apply(change.command(), now));
                }
                case StoreWrite.AdmitRun _,
                        StoreWrite.AppendJournal _,
                        StoreWrite.EndRun _,
                        StoreWrite.RecordDuplicates _,
                        StoreWrite.SaveEvent _ -> {}
            }
        }
        List<IndexedWrite<StoreWrite.SaveEvent>> keeps = pick(batch, StoreWrite.SaveEvent.class);
        if (!keeps.isEmpty()) {
            new PostgresInboundEventWriter(session, context).apply(keeps, outcomes);
        }
        locks.deleteSignalLocks();
        JdbcMetricWriter.write(
                session, counted, batch.leaseSlot()); // last, because counters are last in the lock order
        if (store.hasOtherWorkers()) {
            PostgresWorkerNotifier.send(
                    session,
                    store.workerId(),
                    PostgresWorkerNotifier.collect(batch, outcomes, driving.freedQueueEntries()));
        }
        return java.util.Arrays.asList(outcomes);
    }

    /**
     * Waits until no worker has a batch in flight and lets none begin, so that no trigger runs concurrently with a
     * change of the catalog. These are the first statements, the catalog before the slots, so that two such batches
     * queue up.
     */
    private static void lockCatalogAndSlots(JdbcSession session) throws SQLException {
        // Shorter than the lock timeout of other batches: a hanging worker must not make them fail because of this
        // batch.
        session.update("SET LOCAL lock_timeout = '1s'");
        session.queryOne(LOCK_CATALOG, row -> row.getLong(1));
        session.queryList(LOCK_SLOTS, row -> row.getInt(1));
        session.update("SET LOCAL lock_timeout = '2s'");
    }

    private PostgresTriggerAdmissionWriter.BatchContext fence(JdbcSession session, CommitBatch.@Nullable LeaseSlot hold)
            throws SQLException {
        long skew = store.skew();
        Long lease = hold == null ? null : hold.lease();
        JdbcSession.RowReader<PostgresTriggerAdmissionWriter.BatchContext> reader =
                row -> new PostgresTriggerAdmissionWriter.BatchContext(row.getLong(1) + skew, row.getLong(2), lease);
        PostgresTriggerAdmissionWriter.BatchContext context =
                hold == null ? session.queryOne(CLOCK, reader) : fenced(session, hold, reader);
        if (context == null) {
            throw new StoreFailure.Fenced(hold == null ? 0 : hold.lease());
        }
        if (hold == null) { // not needed under a lease: a breaking migration ends all leases
            PostgresWorkerLeases.rejectNewerSchema(session);
        }
        return context;
    }

    /**
     * A lock timeout on the slot means that a hanging session of this worker holds it. Then the worker gives up this
     * lease, which is always safe, and the next lease has new slots.
     */
    private static PostgresTriggerAdmissionWriter.@Nullable BatchContext fenced(
            JdbcSession session,
            CommitBatch.LeaseSlot hold,
            JdbcSession.RowReader<PostgresTriggerAdmissionWriter.BatchContext> reader)
            throws SQLException {
        try {
            return session.queryOne(FENCE, reader, hold.lease(), hold.slot());
        } catch (SQLException e) {
            if ("55P03".equals(e.getSQLState())) {
                return null;
            }
            throw e;
        }
    }

    private static List<StoreWrite.RunExecution> claim(
            JdbcSession session, StoreWrite.ClaimRuns claim, PostgresTriggerAdmissionWriter.BatchContext context)
            throws SQLException {
        Long lease = context.lease();
        if (lease == null || claim.limit() == 0) {
            return List.of();
        }
        List<FairRunClaimer.DueWorkflow> groups = WorkflowsWithDueRunsQuery.list(session, claim, context.now());
        enterLastQueues(session, new JdbcConcurrencyAndRateLimiter(session), groups, claim.limit(), context.now());
        FairRunClaimer.MemoryFilter memory = new FairRunClaimer.MemoryFilter(claim.memory());
        return FairRunClaimer.claim(claim.limit(), groups, context.now(), claimQuotas -> {
            List<FairRunClaimer.DueRun> due = new ArrayStatement<>(session, FREE, claimQuotas)
                    .texts(claimQuota -> claimQuota.workflow().workflowId())
                    .ints(FairRunClaimer.ClaimQuota::limit)
                    .value(context.now())
                    .value(claim.maxCrashes())
                    .list(row -> new FairRunClaimer.DueRun(
                            row.getString(1),
                            RunId.of(row.getBytes(2)),
                            row.getLong(3),
                            row.getLong(4),
                            row.getLong(5),
                            row.getLong(6)));
            return claimLocked(session, lease, memory.fitting(due), context.now());
        });
    }

    private static List<FairRunClaimer.ClaimedRun> claimLocked(
            JdbcSession session, long lease, List<FairRunClaimer.DueRun> due, long now) throws SQLException {
        return due.isEmpty()
                ? List.of()
                : new ArrayStatement<>(session, CLAIM, due)
                        .value(lease)
                        .value(now)
                        .bytes(one -> one.run().bytes())
                        .list(row -> new FairRunClaimer.ClaimedRun(
                                row.getString(3),
                                new StoreWrite.RunExecution(RunId.of(row.getBytes(1)), row.getInt(2))));
    }

    /** Without waiting for a lock, because this batch holds locks on runs. The next batch with a claim locks it first. */
    private static void enterLastQueues(
            JdbcSession session,
            JdbcConcurrencyAndRateLimiter limiter,
            List<FairRunClaimer.DueWorkflow> groups,
            int limit,
            long now)
            throws SQLException {
        for (RunId run : limiter.findDueBeforeQueue(groups, limit, now)) {
            List<String> queues = limiter.findLaterQueues(run);
            boolean locked = true;
            for (String queue : queues) {
                locked = locked && session.queryOne(TRY_LOCK_QUEUE, row -> row.getString(1), queue) != null;
            }
            // The row again under the locks: another worker may have let it enter since.
            if (locked && session.queryOne(TRY_LOCK_DUE_RUN, row -> row.getInt(1), run) != null) {
                limiter.enterLastQueues(run);
            }
        }
    }

    private static List<EffectLedger.EffectId> decided(CommitBatch batch) {
        List<EffectLedger.EffectId> decided = new ArrayList<>();
        for (StoreWrite<?> write : batch.writes()) {
            StoreWriteCommand<?> edit = write instanceof StoreWrite.ExecuteCommand<?> change ? change.command() : null;
            edit = edit instanceof StoreWriteCommand.IdempotentCommand<?> once ? once.command() : edit;
            edit = edit instanceof StoreWriteCommand.AuditedCommand<?> noted ? noted.command() : edit;
            edit = edit instanceof StoreWriteCommand.ReviewCommand<?>(HumanReviewStoreWriteCommand.DecideReview rule)
                    ? rule.command()
                    : edit;
            if (edit instanceof StoreWriteCommand.DecideEffect decide) {
                decided.add(decide.effect());
            }
            if (edit
                    instanceof
                    StoreWriteCommand.ReviewCommand<?>(HumanReviewStoreWriteCommand.OpenExpiredResend expired)) {
                decided.add(expired.effect());
            }
        }
        return decided;
    }

    record IndexedWrite<W>(int position, W write) {}

    private static <W extends StoreWrite<?>> List<IndexedWrite<W>> pick(CommitBatch batch, Class<W> kind) {
        List<IndexedWrite<W>> picked = new ArrayList<>();
        List<StoreWrite<?>> writes = batch.writes();
        for (int i = 0; i < writes.size(); i++) {
            if (kind.isInstance(writes.get(i))) {
                picked.add(new IndexedWrite<>(i, kind.cast(writes.get(i))));
            }
        }
        return picked;
    }

    private void rollback(Exception cause) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            connection.drop(e);
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
