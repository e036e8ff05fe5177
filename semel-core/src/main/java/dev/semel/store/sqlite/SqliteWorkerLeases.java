package dev.semel.store.sqlite;

import dev.semel.store.CrashCount;
import dev.semel.store.StoreFailure;
import dev.semel.store.TrustedClock;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/** The file lock excludes other processes, so a new worker does not wait until an old lease expires. */
final class SqliteWorkerLeases implements WorkerLeases {
    // For dead workers with exactly one run on trial, before their leases end and each crash adds 1. The inner query
    // does not depend on the row, so it is evaluated once, before the first change.
    private static final String COUNT_ALONE_ON_TRIAL = """
        UPDATE semel_unfinished_run SET crash_count = crash_count + ?1
        WHERE crash_count > ?2 AND owner IN (
            SELECT w.owner FROM semel_unfinished_run w LEFT JOIN semel_lease l ON l.lease = w.owner
            WHERE w.owner IS NOT NULL AND w.crash_count > ?2 AND w.owner <> ?3
                AND coalesce(l.expires_at, 0) < ?4
            GROUP BY w.owner HAVING count(*) = 1)
        """;

    private final SqliteWriteConnection writer;
    private final JdbcSession session;
    private final ReentrantLock turn;
    private final TrustedClock clock;
    private final boolean shared;

    /** @param shared several engines of this process use the file; then a lease ends by the clock, as on PostgreSQL */
    SqliteWorkerLeases(SqliteWriteConnection writer, ReentrantLock turn, TrustedClock clock, boolean shared) {
        this.writer = writer;
        this.session = writer.session();
        this.turn = turn;
        this.clock = clock;
        this.shared = shared;
    }

    @Override
    public void start(long lease, String worker, int slots, long ttlMicros) {
        write(() -> {
            if (!shared) {
                // differs: every older lease belongs to a dead process, because this one holds the file lock
                countAloneOnTrial(0, Long.MAX_VALUE);
                session.update("""
                    UPDATE semel_unfinished_run SET owner = NULL, crash_count = crash_count + 1, has_crashed = 1
                    WHERE owner IS NOT NULL
                    """);
                session.update("DELETE FROM semel_fence");
                session.update("DELETE FROM semel_lease");
            }
            saveTime();
            long now = clock.getAsLong();
            session.update(
                    "INSERT INTO semel_lease (lease, worker, started_at, expires_at) VALUES (?, ?, ?, ?)",
                    lease,
                    worker,
                    now,
                    now + ttlMicros);
            for (int slot = 0; slot < slots; slot++) {
                session.update("""
                    INSERT INTO semel_fence (lease, slot, catalog_revision)
                    SELECT ?, ?, revision FROM semel_catalog WHERE singleton = 1
                    """, lease, slot);
            }
            return slots;
        });
    }

    private void countAloneOnTrial(long own, long expiredBefore) throws SQLException {
        session.update(COUNT_ALONE_ON_TRIAL, CrashCount.ALONE - 1, CrashCount.BEFORE_TRIAL, own, expiredBefore);
    }

    @Override
    public boolean isExclusive() {
        return !shared;
    }

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return write(() -> {
                    saveTime();
                    return session.update(
                            "UPDATE semel_lease SET expires_at = ? WHERE lease = ?",
                            clock.getAsLong() + ttlMicros,
                            lease);
                })
                == 1;
    }

    /** With every renewal, so that the next start knows what time it was. */
    private void saveTime() throws SQLException {
        TrustedClock.StoredTime time = clock.toStore();
        if (time != null) {
            session.update("""
                INSERT OR REPLACE INTO semel_clock (singleton, store_time, boot_id, boot_micros) VALUES (1, ?, ?, ?)
                """, time.time(), time.bootId(), time.bootMicros());
        }
    }

    @Override
    public StoreStatus heartbeat(long lease, WorkerReport workerReport) {
        long ahead = workerReport.clock() - clock.getAsLong();
        AtomicReference<WorkflowStore.Durability> durability = new AtomicReference<>();
        write(() -> {
            durability.set(SqliteStore.durability(session.connection()));
            return session.update(
                    """
                    UPDATE semel_lease SET version = ?, run_count = ?, renewed_at = ?, clock_ahead = ?
                    WHERE lease = ?
                    """, workerReport.version(), workerReport.runs(), workerReport.clock() - ahead, ahead, lease);
        });
        // differs: no other process can have migrated this file
        return new StoreStatus(ahead, Objects.requireNonNull(durability.get()), null);
    }

    @Override
    public int takeOverExpired(long own) {
        if (!shared) {
            return 0; // differs: no other process can hold a lease on this file
        }
        return write(() -> {
            long now = clock.getAsLong();
            countAloneOnTrial(own, now);
            session.update("""
                UPDATE semel_unfinished_run SET owner = NULL, crash_count = crash_count + 1, has_crashed = 1
                WHERE owner IN (SELECT lease FROM semel_lease WHERE expires_at < ? AND lease <> ?)
                """, now, own);
            session.update("""
                DELETE FROM semel_fence
                WHERE lease IN (SELECT lease FROM semel_lease WHERE expires_at < ? AND lease <> ?)
                """, now, own);
            return session.update("DELETE FROM semel_lease WHERE expires_at < ? AND lease <> ?", now, own);
        });
    }

    @Override
    public void end(long lease) {
        write(() -> {
            session.update("UPDATE semel_unfinished_run SET owner = NULL WHERE owner = ?", lease);
            session.update("DELETE FROM semel_fence WHERE lease = ?", lease);
            return session.update("DELETE FROM semel_lease WHERE lease = ?", lease);
        });
    }

    private int write(LeaseChange change) {
        turn.lock();
        try {
            writer.reopenIfBroken();
            int changed = change.apply();
            session.connection().commit();
            return changed;
        } catch (SQLException e) {
            writer.markFailed(e);
            throw new StoreFailure.Unreachable("The worker's lease could not be written to SQLite", e);
        } catch (RuntimeException | Error e) {
            writer.markFailed(e); // the next batch must not commit what this change left
            throw e;
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void close() {}

    @FunctionalInterface
    private interface LeaseChange {
        int apply() throws SQLException;
    }
}
