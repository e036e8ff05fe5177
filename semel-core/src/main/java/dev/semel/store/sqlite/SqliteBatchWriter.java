package dev.semel.store.sqlite;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.CommitBatch;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.NewRun;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.TrustedClock;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.InboundEventRepository;
import dev.semel.store.jdbc.JdbcMetricWriter;
import dev.semel.store.jdbc.StoreWriteCommandExecutor;
import dev.semel.store.jdbc.run.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The only write lane of the SQLite store: applies the writes of a batch in order and commits them with one fsync. */
final class SqliteBatchWriter implements WorkflowStore.BatchWriter {
    private static final String INSERT_RUN = """
        INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id,
            input,
                               field_hashes, lineage, previous_run, duplicate_of, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_WORK = """
        INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    record LaneDependencies(TrustedClock clock, Supplier<RunId> ids, WalCheckpointer checkpoints) {}

    private final SqliteWriteConnection writer;
    private final JdbcSession session;
    private final ReentrantLock turn;
    private final LaneDependencies ambience;
    private final SqliteDeduplicationKeyClaimer names;
    private final StoreWriteCommandExecutor edits;
    private final SqliteRunProgressWriter driving;
    private final JdbcConcurrencyAndRateLimiter limiter;
    private final MetricUpdateCollector counted = new MetricUpdateCollector();
    private long catalogRevision;

    SqliteBatchWriter(SqliteWriteConnection writer, ReentrantLock turn, LaneDependencies ambience) {
        this.writer = writer;
        this.session = writer.session();
        this.turn = turn;
        this.ambience = ambience;
        this.names = new SqliteDeduplicationKeyClaimer(session);
        this.edits = new StoreWriteCommandExecutor(session, ambience.ids(), counted);
        this.driving = new SqliteRunProgressWriter(session, counted);
        this.limiter = new JdbcConcurrencyAndRateLimiter(session);
    }

    @Override
    public List<Object> apply(CommitBatch batch) {
        turn.lock();
        try {
            List<Object> outcomes;
            try {
                outcomes = applyWithRetries(batch, batch.writes().size());
            } catch (SQLException e) {
                writer.markFailed(e);
                throw failure(e);
            } catch (RuntimeException | Error e) {
                writer.markFailed(e); // also on an error: the next batch must not commit what this one left
                throw e;
            }
            commit();
            return outcomes;
        } finally {
            turn.unlock();
        }
    }

    /** Applies again if user code was stopped in a write: SQLite then rolls all back. {@code stops}: retries left. */
    private List<Object> applyWithRetries(CommitBatch batch, int stops) throws SQLException {
        writer.reopenIfBroken();
        try {
            return applyAll(batch);
        } catch (SqliteRunProgressWriter.StatementStopped e) {
            if (stops == 0) {
                throw new StoreFailure.ValueRejected(
                        "User code of a tx step exceeded its time limit in every retry", e);
            }
            writer.markFailed(e);
        }
        return applyWithRetries(batch, stops - 1);
    }

    private List<Object> applyAll(CommitBatch batch) throws SQLException {
        long now = ambience.clock().getAsLong();
        CommitBatch.LeaseSlot hold = batch.leaseSlot();
        Long owner = hold == null ? null : hold.lease();
        if (hold != null
                && !session.exists(
                        "SELECT 1 FROM semel_fence WHERE lease = ? AND slot = ?", hold.lease(), hold.slot())) {
            throw new StoreFailure.Fenced(hold.lease());
        }
        readCatalogRevision();
        counted.clear();
        List<Object> outcomes = new ArrayList<>(batch.writes().size());
        for (StoreWrite<?> write : batch.writes()) {
            outcomes.add(applyOne(write, owner, now));
        }
        JdbcMetricWriter.write(session, counted, hold);
        return outcomes;
    }

    private Object applyOne(StoreWrite<?> write, @Nullable Long owner, long now) throws SQLException {
        return switch (write) {
            case StoreWrite.AdmitRun admit -> admit(admit, owner, now);
            case StoreWrite.AppendJournal append -> driving.append(append, owner, now);
            case StoreWrite.EndRun end -> driving.end(end, owner, now);
            case StoreWrite.RecordDuplicates tally -> driving.recordDuplicates(tally);
            case StoreWrite.SaveEvent saveEvent ->
                InboundEventRepository.save(session, saveEvent, now, catalogRevision);
            case StoreWrite.ClaimRuns claim -> driving.claim(claim, owner, now);
            case StoreWrite.UserTransaction tx -> driving.runTransaction(tx, owner, now);
            case StoreWrite.ExecuteCommand<?> edit -> change(edit, now);
        };
    }

    private Object change(StoreWrite.ExecuteCommand<?> edit, long now) throws SQLException {
        Object done = StoreWriteCommand.NullResult.wrap(edits.apply(edit.command(), now));
        readCatalogRevision(); // for later triggers of the batch
        return done;
    }

    /** Reads the catalog revision under which the next trigger is admitted. */
    private void readCatalogRevision() throws SQLException {
        Long now = session.queryOne("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        catalogRevision = now == null ? 0 : now;
    }

    private AdmitResult admit(StoreWrite.AdmitRun admit, @Nullable Long owner, long now) throws SQLException {
        RunId mine = admit.run().id();
        // A recorded run was in time: this is a retry after a lost response.
        if (admit.catalogVersion() != catalogRevision && !recorded(mine)) {
            return new AdmitResult.CatalogChanged();
        }
        AdmitResult absorbed = limiter.debounce(admit, now);
        if (absorbed != null) {
            return absorbed;
        }
        List<RunDeduplicationKeyClaim> claims = new ArrayList<>();
        List<SqliteDeduplicationKeyClaimer.KeyTakeover> retakes = new ArrayList<>();
        List<@Nullable RunDeduplicationKeyRecord> held = new ArrayList<>();
        RunDeduplicationKeyRecord duplicateOf = null;
        RunId given = admit.run().links().lineage();
        RunId lineage = given == null ? mine : given;
        boolean blocked = false;
        for (RunDeduplicationKeyClaim claim : admit.keyClaims()) {
            RunDeduplicationKeyRecord keyRecord =
                    names.claim(claim, mine, now) ? null : SqliteStoreQueries.find(session, claim.key());
            boolean live = false;
            if (keyRecord == null) {
                claims.add(claim);
            } else if (keyRecord.run().equals(mine)) {
                lineage = keyRecord.lineage(); // a retry after a lost response
            } else {
                KeyStatus status = TriggerAdmissionRules.statusOf(
                        keyRecord, ambience.clock().windowTime());
                live = status == KeyStatus.LIVE;
                if (!live) {
                    retakes.add(new SqliteDeduplicationKeyClaimer.KeyTakeover(claim, keyRecord, status));
                } else if (!claim.binding()) {
                    duplicateOf = keyRecord;
                }
            }
            blocked |= live && claim.binding();
            held.add(live && claim.binding() ? keyRecord : null);
        }
        RunDeduplicationKeyRecord failed = SqliteDeduplicationKeyClaimer.findFailedHolder(retakes, admit);
        if (blocked || failed != null) {
            for (RunDeduplicationKeyClaim claim : claims) {
                names.release(claim, mine);
            }
            return blocked || failed == null
                    ? new AdmitResult.KeysHeld(now, held)
                    : new AdmitResult.HolderFailed(now, failed);
        }
        for (SqliteDeduplicationKeyClaimer.KeyTakeover retake : retakes) {
            names.takeOver(retake, mine, now);
        }
        return create(
                admit.run(),
                admit.hasCapacity() ? owner : null,
                now,
                SqliteDeduplicationKeyClaimer.RunOrigins.of(lineage, retakes, duplicateOf));
    }

    private boolean recorded(RunId run) throws SQLException {
        return session.exists("SELECT 1 FROM semel_run WHERE run = ?", run);
    }

    private AdmitResult create(
            NewRun run, @Nullable Long lease, long now, SqliteDeduplicationKeyClaimer.RunOrigins origins)
            throws SQLException {
        boolean queued = run.state() == RunState.QUEUED;
        // A run with start conditions is claimed when it is due, by a worker with free capacity.
        Long owner = queued || run.startConditions() != null ? null : lease;
        StoreWrite.PreviousHolder earlier = origins.previousHolder();
        RunDeduplicationKeyRecord duplicateOf = origins.duplicateOf();
        boolean isNew = session.update(
                        INSERT_RUN,
                        run.id(),
                        run.workspace(),
                        run.chosenId(),
                        run.workflowId(),
                        run.version(),
                        run.origin().triggerSource().code(),
                        run.origin().actor(),
                        run.origin().key(),
                        run.origin().correlationId(),
                        run.input(),
                        run.fields(),
                        origins.lineage(),
                        earlier == null ? null : earlier.run(),
                        duplicateOf == null ? null : duplicateOf.run(),
                        now)
                == 1;
        boolean waits = !isNew && limiter.isStillBlocked(run);
        if (isNew) {
            // Only with a new run row: the retry of an admission must not restart a finished run.
            session.update(
                    INSERT_WORK,
                    run.id(),
                    run.workflowId(),
                    owner,
                    owner == null ? 0 : 1,
                    run.state().code(),
                    queued ? 1 : 0);
            link(run, now);
            counted.countFreshTrigger(run, origins.keyFirstUsedAt(), now);
            waits = !limiter.applyTo(run, now);
        }
        StoreWrite.PreviousHolder from = isNew ? earlier : names.findPrevious(run.id());
        boolean owned = owner != null && owns(run.id(), owner);
        return new AdmitResult.Fresh(now, owned, origins.lineage(), from, duplicateOf, waits);
    }

    private void link(NewRun run, long now) throws SQLException {
        NewRun.RunParentage links = run.links();
        if (links.isLinked()) {
            session.update(
                    "INSERT INTO semel_run_link (run, parent, replay_of, depth) VALUES (?, ?, ?, ?)",
                    run.id(),
                    links.parent(),
                    links.replayOf(),
                    links.depth());
        }
        if (!links.carriedJournal().isEmpty()) {
            session.update(
                    "INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, 0, ?, ?)",
                    run.id(),
                    now,
                    links.carriedJournal());
        }
    }

    private boolean owns(RunId run, long owner) throws SQLException {
        return session.exists("SELECT 1 FROM semel_unfinished_run WHERE run = ? AND owner = ?", run, owner);
    }

    private void commit() {
        try {
            session.connection().commit();
        } catch (SQLException e) {
            writer.markFailed(e);
            // A failed fsync or a full disk at COMMIT: only a retry shows whether the frames are in the WAL.
            throw new StoreFailure.CommitUnknown(e);
        } catch (RuntimeException | Error e) {
            writer.markFailed(e);
            throw e;
        }
        try {
            ambience.checkpoints().finishPending(session.connection());
        } catch (SQLException e) {
            writer.markFailed(e);
        }
    }

    private static StoreFailure failure(SQLException e) {
        int code = e.getErrorCode() & 0xff;
        // 18 TOOBIG, 19 CONSTRAINT, 20 MISMATCH, 25 RANGE: the value is bad, not the store.
        return switch (code) {
            case 18, 19, 20, 25 -> new StoreFailure.ValueRejected("SQLite rejected a value", e);
            default -> new StoreFailure.Unreachable("SQLite rejected a write: " + e.getMessage(), e);
        };
    }

    @Override
    public void close() {}
}
