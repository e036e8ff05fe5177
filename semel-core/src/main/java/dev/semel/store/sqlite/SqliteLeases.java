package dev.semel.store.sqlite;

import dev.semel.store.Durability;
import dev.semel.store.Leases;
import dev.semel.store.StoreFailure;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Worker leases in SQLite, with the same rows as in PostgreSQL. The file lock excludes other processes, so a new worker
 * does not wait until an old lease expires.
 */
final class SqliteLeases implements Leases {
    private final Writer writer;
    private final Session session;
    private final ReentrantLock turn;
    private final LongSupplier clock;
    private final boolean shared;

    /** @param shared several engines of this process use the file; then a lease ends by the clock, as on PostgreSQL */
    SqliteLeases(Writer writer, ReentrantLock turn, LongSupplier clock, boolean shared) {
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
                session.update("""
                    UPDATE semel_unfinished_run SET owner = NULL, crash_count = crash_count + 1, has_crashed = 1
                    WHERE owner IS NOT NULL
                    """);
                session.update("DELETE FROM semel_fence");
                session.update("DELETE FROM semel_lease");
            }
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

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return write(() -> session.update(
                        "UPDATE semel_lease SET expires_at = ? WHERE lease = ?", clock.getAsLong() + ttlMicros, lease))
                == 1;
    }

    @Override
    public Pulse pulse(long lease, Told told) {
        long ahead = told.wall() - clock.getAsLong();
        AtomicReference<Durability> durability = new AtomicReference<>();
        write(() -> {
            durability.set(SqliteStore.durability(session.connection()));
            return session.update(
                    """
                    UPDATE semel_lease SET version = ?, run_count = ?, renewed_at = ?, clock_ahead = ?
                    WHERE lease = ?
                    """,
                    told.version(),
                    told.runs(),
                    told.wall() - ahead,
                    ahead,
                    lease);
        });
        // differs: no other process can have migrated this file
        return new Pulse(ahead, Objects.requireNonNull(durability.get()), null);
    }

    @Override
    public int takeOver() {
        if (!shared) {
            return 0; // differs: no other process can hold a lease on this file
        }
        return write(() -> {
            long now = clock.getAsLong();
            session.update("""
                UPDATE semel_unfinished_run SET owner = NULL, crash_count = crash_count + 1, has_crashed = 1
                WHERE owner IN (SELECT lease FROM semel_lease WHERE expires_at < ?)
                """, now);
            session.update(
                    "DELETE FROM semel_fence WHERE lease IN (SELECT lease FROM semel_lease WHERE expires_at < ?)", now);
            return session.update("DELETE FROM semel_lease WHERE expires_at < ?", now);
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

    private int write(Change change) {
        turn.lock();
        try {
            writer.ready();
            int changed = change.apply();
            session.connection().commit();
            return changed;
        } catch (SQLException e) {
            writer.failed(e);
            throw new StoreFailure.Down("The worker's lease could not be written to SQLite", e);
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void close() {}

    /** A change of lease rows; returns the number of changed rows. */
    @FunctionalInterface
    private interface Change {
        int apply() throws SQLException;
    }
}
