package dev.semel.store.postgres;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.FairClaim;
import dev.semel.store.MetricUpdates;
import dev.semel.store.NullOutcome;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.WriteLane;
import dev.semel.store.jdbc.DueWorkflowQuery;
import dev.semel.store.jdbc.JdbcSession;
import dev.semel.store.jdbc.MetricWriter;
import dev.semel.store.jdbc.StoreCommandExecutor;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A write lane: applies batches on one PostgreSQL connection. All batches run their statements in one fixed order and
 * lock rows sorted, so that two batches never deadlock.
 */
final class PostgresWriteLane implements WriteLane {
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

    private static final String CLAIM = """
        WITH free AS (
            SELECT one.run FROM unnest(?::text[], ?::int[]) AS share(workflow_id, most) CROSS JOIN LATERAL (
                SELECT run FROM semel_unfinished_run w WHERE w.workflow_id = share.workflow_id
                    AND owner IS NULL AND start_blocked = 0 AND due_at <= ? AND crash_count <= ?
                ORDER BY due_at, run LIMIT share.most FOR UPDATE SKIP LOCKED) AS one)
        UPDATE semel_unfinished_run w SET owner = ?, claim_count = w.claim_count + 1, waiting_for = NULL,
            state = CASE WHEN w.state IN (4, 5, 6) THEN 3 ELSE GREATEST(w.state, 2) END
        WHERE w.run = ANY (ARRAY(SELECT run FROM free)) RETURNING w.run, w.claim_count, w.workflow_id
        """;

    private final PostgresStore store;
    private @Nullable JdbcSession session;

    PostgresWriteLane(PostgresStore store) {
        this.store = store;
    }

    @Override
    public List<Object> apply(CommitBatch batch) {
        List<Object> outcomes;
        try {
            outcomes = applyAll(connected(), batch);
        } catch (SQLException e) {
            abandon(e);
            throw SqlStateClassifier.of(e);
        } catch (RuntimeException e) {
            rollback(e);
            throw e;
        }
        try {
            connected().connection().commit();
            return outcomes;
        } catch (SQLException e) {
            abandon(e);
            throw SqlStateClassifier.ofCommit(e);
        }
    }

    private List<Object> applyAll(JdbcSession session, CommitBatch batch) throws SQLException {
        if (batch.changesCatalog()) {
            lockCatalogAndSlots(session);
        }
        AdmissionBatchWriter.BatchContext moment = fence(session, batch.leaseSlot());
        long now = moment.now();
        Object[] outcomes = new Object[batch.writes().size()];
        MetricUpdates counted = new MetricUpdates();
        // Before their locks: a rejected trigger must leave no row, not even one inserted only to be locked.
        List<IndexedWrite<StoreWrite.AdmitRun>> admits =
                StaleTriggerFilter.rejectStale(session, moment, pick(batch, StoreWrite.AdmitRun.class), outcomes);
        List<IndexedWrite<StoreWrite.RecordDuplicates>> tallies = pick(batch, StoreWrite.RecordDuplicates.class);
        List<OwnerWrite> turns = OwnerWrite.of(batch.writes());
        BatchLocks locks = new BatchLocks(session, now);
        locks.lockAll(batch, admits, turns);
        if (!admits.isEmpty()) {
            new AdmissionBatchWriter(session, store.skew(), moment, counted).apply(admits, locks, outcomes);
        }
        RunProgressWriter driving = new RunProgressWriter(session, moment, locks, counted);
        driving.writeOwned(turns, decided(batch), outcomes);
        if (!tallies.isEmpty()) {
            driving.recordDuplicates(tallies, outcomes);
        }
        StoreCommandExecutor edits = new StoreCommandExecutor(session, store.ids(), counted);
        for (int i = 0; i < outcomes.length; i++) {
            switch (batch.writes().get(i)) {
                case StoreWrite.ClaimRuns claim -> outcomes[i] = claim(session, claim, moment);
                case StoreWrite.UserTransaction _ ->
                    throw new UnsupportedOperationException("A user transaction needs a lane of its own");
                case StoreWrite.ExecuteCommand<?> change -> {
                    Object absent = locks.outcomeIfAbsent(change.command());
                    outcomes[i] = absent != null ? absent : NullOutcome.wrap(edits.apply(change.command(), now));
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
            new EventBatchWriter(session, moment).apply(keeps, outcomes);
        }
        locks.deleteSignalLocks();
        MetricWriter.write(session, counted, batch.leaseSlot()); // last, because counters are last in the lock order
        if (store.hasOtherWorkers()) {
            PostgresWakeNotifier.send(
                    session,
                    store.workerId(),
                    PostgresWakeNotifier.collect(batch, outcomes, driving.freedQueueEntries()));
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

    private AdmissionBatchWriter.BatchContext fence(JdbcSession session, CommitBatch.@Nullable LeaseSlot hold)
            throws SQLException {
        long skew = store.skew();
        Long lease = hold == null ? null : hold.lease();
        JdbcSession.RowReader<AdmissionBatchWriter.BatchContext> reader =
                row -> new AdmissionBatchWriter.BatchContext(row.getLong(1) + skew, row.getLong(2), lease);
        AdmissionBatchWriter.BatchContext moment =
                hold == null ? session.queryOne(CLOCK, reader) : fenced(session, hold, reader);
        if (moment == null) {
            throw new StoreFailure.Fenced(hold == null ? 0 : hold.lease());
        }
        if (hold == null) { // not needed under a lease: a breaking migration ends all leases
            PostgresWorkerLeases.rejectNewerSchema(session);
        }
        return moment;
    }

    /**
     * A lock timeout on the slot means that a hanging session of this worker holds it. Then the worker gives up this
     * lease, which is always safe, and the next lease has new slots.
     */
    private static AdmissionBatchWriter.@Nullable BatchContext fenced(
            JdbcSession session,
            CommitBatch.LeaseSlot hold,
            JdbcSession.RowReader<AdmissionBatchWriter.BatchContext> reader)
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
            JdbcSession session, StoreWrite.ClaimRuns claim, AdmissionBatchWriter.BatchContext moment)
            throws SQLException {
        Long lease = moment.lease();
        if (lease == null || claim.limit() == 0) {
            return List.of();
        }
        List<FairClaim.DueWorkflow> groups = DueWorkflowQuery.list(session, claim, moment.now());
        return FairClaim.claim(claim.limit(), groups, moment.now(), shares -> {
            PreparedStatement statement = session.prepare(CLAIM);
            new ArrayParameterBinder(session, statement)
                    .texts(shares.stream()
                            .map(share -> share.workflow().workflowId())
                            .toArray(String[]::new))
                    .ints(shares.stream().mapToInt(FairClaim.ClaimQuota::limit).toArray())
                    .value(moment.now())
                    .value(claim.maxCrashes())
                    .value(lease);
            List<FairClaim.ClaimedRun> taken = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    StoreWrite.RunExecution driver =
                            new StoreWrite.RunExecution(RunId.of(row.getBytes(1)), row.getInt(2));
                    taken.add(new FairClaim.ClaimedRun(row.getString(3), driver));
                }
            }
            return taken;
        });
    }

    /** Returns the effects that users decide in this batch. */
    private static List<EffectLedger.EffectId> decided(CommitBatch batch) {
        List<EffectLedger.EffectId> decided = new ArrayList<>();
        for (StoreWrite<?> write : batch.writes()) {
            StoreCommand<?> edit = write instanceof StoreWrite.ExecuteCommand<?> change ? change.command() : null;
            edit = edit instanceof StoreCommand.IdempotentCommand<?> once ? once.command() : edit;
            edit = edit instanceof StoreCommand.AuditedCommand<?> noted ? noted.command() : edit;
            edit = edit instanceof StoreCommand.ReviewCommand<?>(ReviewOperation.DecideReview rule)
                    ? rule.command()
                    : edit;
            if (edit instanceof StoreCommand.DecideEffect decide) {
                decided.add(decide.effect());
            }
        }
        return decided;
    }

    /** A write and its position in the batch. */
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

    private JdbcSession connected() throws SQLException {
        JdbcSession current = session;
        if (current == null) {
            current = new JdbcSession(store.connect(ConnectionPurpose.LANE));
            session = current;
        }
        return current;
    }

    private void rollback(Exception cause) {
        try {
            if (session != null) {
                session.connection().rollback();
            }
        } catch (SQLException e) {
            abandon(e);
            cause.addSuppressed(e);
        }
    }

    /** Drops the connection and its prepared statements after a failure; the next batch opens a new one. */
    private void abandon(Exception cause) {
        JdbcSession current = session;
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
