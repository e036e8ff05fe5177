package dev.semel.store.postgres;

import dev.semel.store.CrashCount;
import dev.semel.store.StoreFailure;
import dev.semel.store.WorkerLeases;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.SchemaMigrations;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Only the database's clock decides expiry. Heartbeats have their own connection and never wait behind a takeover. */
final class PostgresWorkerLeases implements WorkerLeases {
    private static final String START = """
        INSERT INTO semel_lease (lease, worker, started_at, expires_at)
        SELECT ?, ?, n.at, n.at + ?
        FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? AS at) n
        """;

    private static final String RENEW = """
        UPDATE semel_lease SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? + ?
        WHERE lease = ?
        """;

    private static final String REPORT = """
        UPDATE semel_lease l SET version = ?, run_count = ?, renewed_at = n.at, clock_ahead = ? - n.at
        FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? AS at) n WHERE l.lease = ?
        """;

    private static final String STATUS = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
            (SELECT name FROM semel_migration WHERE breaking = 1 AND number > ? ORDER BY number DESC LIMIT 1),
            current_setting('fsync'), (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
            current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
            current_setting('server_version')
        """;

    /** Finds a breaking migration that is newer than this version. */
    static final String NEWER =
            "SELECT name FROM semel_migration WHERE breaking = 1 AND number > ? ORDER BY number DESC LIMIT 1";

    // Starts after the lease that blocked the last takeover, so that a hanging connection does not block the others.
    private static final String EXPIRED = """
        SELECT lease FROM semel_lease
        WHERE expires_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? AND lease <> ?
        ORDER BY lease <= ?, lease LIMIT 16
        """;

    private static final String END_EXPIRED = """
        DELETE FROM semel_lease
        WHERE lease = ? AND expires_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ?
        """;

    // xmax of a slot is the one transaction that locks it. A session that waits for a standby is not terminated: its
    // rows would be visible here and missing on the standby.
    private static final String END_BLOCKERS = """
        SELECT count(pg_terminate_backend(a.pid)) FROM semel_fence f JOIN pg_stat_activity a ON a.backend_xid = f.xmax
        WHERE f.lease = ? AND a.pid <> pg_backend_pid() AND a.usename = current_user
          AND a.wait_event IS DISTINCT FROM 'SyncRep'
        """;

    // Sorted, as in every lane: a signal to two of these runs must not deadlock with the takeover.
    private static final String FREE = """
        WITH its AS MATERIALIZED (
            SELECT run, crash_count FROM semel_unfinished_run WHERE owner = ? ORDER BY run FOR NO KEY UPDATE),
        trial AS (SELECT count(*) AS runs FROM its WHERE crash_count > ?)
        UPDATE semel_unfinished_run w SET owner = NULL,
            crash_count = w.crash_count + ? * CASE WHEN w.crash_count > ? AND trial.runs = 1 THEN ? ELSE 1 END,
            has_crashed = CASE WHEN ? > 0 THEN 1 ELSE w.has_crashed END
        FROM its, trial WHERE w.run = its.run
        """;

    private final PostgresStore store;
    private final LaneSession beats;
    private final LaneSession takeovers;
    private long stuck;

    PostgresWorkerLeases(PostgresStore store) {
        this.store = store;
        this.beats = new LaneSession(store, PostgresConnectionPurpose.LEASE);
        this.takeovers = new LaneSession(store, PostgresConnectionPurpose.TAKEOVER);
    }

    @Override
    public void start(long lease, String worker, int slots, long ttlMicros) {
        int unused = run(beats, session -> {
            session.update(START, lease, worker, ttlMicros, store.skew());
            // Shared with other starts, but not with a publish: it either updates these slots or is visible to them.
            // Not shared with a breaking migration either: a start after it sees that migration.
            Long revision = session.queryOne(
                    "SELECT revision FROM semel_catalog WHERE singleton = 1 FOR SHARE", row -> row.getLong(1));
            rejectNewerSchema(session);
            for (int slot = 0; slot < slots; slot++) {
                session.update(
                        "INSERT INTO semel_fence (lease, slot, catalog_revision) VALUES (?, ?, ?)",
                        lease,
                        slot,
                        revision);
            }
            return slots;
        });
    }

    /** Rejects a newer schema, in a statement of its own: one that waited for the migration would see the old state. */
    static void rejectNewerSchema(JdbcSession session) throws SQLException {
        String newer = session.queryOne(NEWER, row -> row.getString(1), SchemaMigrations.newestNumber());
        if (newer != null) {
            throw new StoreFailure.SchemaTooNew(newer);
        }
    }

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return run(beats, session -> session.update(RENEW, ttlMicros, store.skew(), lease)) == 1;
    }

    @Override
    public StoreStatus heartbeat(long lease, WorkerReport workerReport) {
        return run(beats, session -> {
            session.update(
                    REPORT, workerReport.version(), workerReport.runs(), workerReport.clock(), store.skew(), lease);
            StoreStatus pulse = session.queryOne(
                    STATUS,
                    row -> new StoreStatus(
                            workerReport.clock() - row.getLong(1) - store.skew(),
                            PostgresStore.durability(row, 3),
                            row.getString(2)),
                    SchemaMigrations.newestNumber());
            if (pulse == null) {
                throw new IllegalStateException("A query without a table returned no row");
            }
            return pulse;
        });
    }

    @Override
    public int takeOverExpired(long own) {
        store.hasOtherWorkers(run(
                                takeovers,
                                session -> session.queryList(
                                        "SELECT lease FROM semel_lease LIMIT 2", row -> row.getLong(1)))
                        .size()
                > 1);
        List<Long> expired =
                run(takeovers, session -> session.queryList(EXPIRED, row -> row.getLong(1), store.skew(), own, stuck));
        int ended = 0;
        for (long lease : expired) {
            Integer one = unblocked(lease, session -> {
                lockSlots(session, lease);
                return session.update(END_EXPIRED, lease, store.skew()) == 0 ? 0 : free(session, lease, 1);
            });
            if (one == null) {
                stuck = lease;
                return ended; // the next takeover begins after it
            }
            ended += one;
        }
        return ended;
    }

    @Override
    public void end(long lease) {
        Integer ended = unblocked(lease, session -> {
            lockSlots(session, lease);
            session.update("DELETE FROM semel_lease WHERE lease = ?", lease);
            return free(session, lease, 0);
        });
        if (ended == null) {
            throw new StoreFailure.LockConflict(
                    true, new IllegalStateException("a batch of this lease did not end in time"));
        }
    }

    /** Waits for batches in flight; afterwards no batch of this lease can begin. */
    private static void lockSlots(JdbcSession session, long lease) throws SQLException {
        session.queryList(
                "SELECT slot FROM semel_fence WHERE lease = ? ORDER BY slot FOR UPDATE", row -> row.getInt(1), lease);
    }

    /**
     * Runs the action; if a lock blocks it, terminates the sessions that hold the slots and retries. Their client was
     * paused, or is gone without the server's knowledge. Null: a session that cannot be terminated blocks it.
     */
    private @Nullable Integer unblocked(long lease, LeaseAction<Integer> action) {
        try {
            return run(takeovers, action);
        } catch (StoreFailure.LockConflict e) {
            List<Long> sessions =
                    run(takeovers, session -> session.queryList(END_BLOCKERS, row -> row.getLong(1), lease));
            if (sessions.equals(List.of(0L))) {
                return null;
            }
        }
        try {
            return run(takeovers, action);
        } catch (StoreFailure.LockConflict e) {
            return null;
        }
    }

    /** In the transaction that ends the lease. {@code crashes}: 1 if the worker died while it executed them. */
    private int free(JdbcSession session, long lease, int crashes) throws SQLException {
        int trial = CrashCount.BEFORE_TRIAL;
        int freed = session.update(FREE, lease, trial, crashes, trial, CrashCount.ALONE, crashes);
        session.update("DELETE FROM semel_fence WHERE lease = ?", lease);
        if (freed > 0 && store.hasOtherWorkers()) {
            PostgresWorkerNotifier.send(session, store.workerId(), Set.of(""));
        }
        return 1;
    }

    private static <T> T run(LaneSession connection, LeaseAction<T> action) {
        try {
            JdbcSession session = connection.connected();
            T result = action.run(session);
            session.connection().commit();
            return result;
        } catch (SQLException e) {
            connection.drop(e);
            throw SqlStateClassifier.of(e);
        } catch (RuntimeException | Error e) {
            connection.drop(e);
            throw e;
        }
    }

    @Override
    public void close() {
        beats.close();
        takeovers.close();
    }

    @FunctionalInterface
    private interface LeaseAction<T> {
        T run(JdbcSession session) throws SQLException;
    }
}
