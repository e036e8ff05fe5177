package dev.semel.store.sqlite;

import dev.semel.store.Leases;
import dev.semel.store.StoreFailure;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The same lease rows as on PostgreSQL. The file lock proves that no other process lives, so a new start need not wait
 * for an old lease to run out.
 */
final class SqliteLeases implements Leases {
    private final Session writer;
    private final ReentrantLock turn;
    private final LongSupplier clock;

    SqliteLeases(Session writer, ReentrantLock turn, LongSupplier clock) {
        this.writer = writer;
        this.turn = turn;
        this.clock = clock;
    }

    @Override
    public void start(long lease, String worker, int slots, long ttlMicros) {
        write(() -> {
            // differs: every older lease belongs to a dead process, because this one holds the file lock
            writer.update("UPDATE semel_work SET owner = NULL WHERE owner IS NOT NULL");
            writer.update("DELETE FROM semel_fence");
            writer.update("DELETE FROM semel_lease");
            long now = clock.getAsLong();
            writer.update("INSERT INTO semel_lease (lease, worker, started_at, until_at) VALUES (?, ?, ?, ?)",
                    lease, worker, now, now + ttlMicros);
            for (int slot = 0; slot < slots; slot++) {
                writer.update("INSERT INTO semel_fence (lease, slot) VALUES (?, ?)", lease, slot);
            }
            return slots;
        });
    }

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return write(() -> writer.update(
                "UPDATE semel_lease SET until_at = ? WHERE lease = ?", clock.getAsLong() + ttlMicros, lease)) == 1;
    }

    @Override
    public int takeOver() {
        return 0; // differs: no other process can hold a lease on this file
    }

    @Override
    public void end(long lease) {
        write(() -> {
            writer.update("UPDATE semel_work SET owner = NULL WHERE owner = ?", lease);
            writer.update("DELETE FROM semel_fence WHERE lease = ?", lease);
            return writer.update("DELETE FROM semel_lease WHERE lease = ?", lease);
        });
    }

    private int write(Change change) {
        turn.lock();
        try {
            int changed = change.apply();
            writer.connection().commit();
            return changed;
        } catch (SQLException e) {
            try {
                writer.connection().rollback();
            } catch (SQLException again) {
                e.addSuppressed(again);
            }
            throw new StoreFailure.Down("the lease could not be written", e);
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void close() {}

    @FunctionalInterface
    private interface Change {
        int apply() throws SQLException;
    }
}
