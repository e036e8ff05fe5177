package dev.semel.store.sqlite;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Checkpoints the SQLite WAL into the database file on a background thread. Under constant load a passive checkpoint
 * never reaches the end of the WAL, so the writer does the last pages between two batches; then the WAL file is reused
 * and does not grow.
 */
final class WalCheckpointer implements AutoCloseable {
    private static final Logger LOG = System.getLogger(WalCheckpointer.class.getName());
    private static final int LARGE_WAL_PAGES = 16_384;
    /** Ten passes per second instead of one doubled the slowest responses, because commits share the disk. */
    private static final long PAUSE_MILLIS = 1_000;

    private final ConnectionOpener opener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition stop = lock.newCondition();
    private final Thread thread;
    private volatile boolean stopped;
    private volatile boolean writerShouldFinish;

    WalCheckpointer(ConnectionOpener opener) {
        this.opener = opener;
        this.thread = Thread.ofPlatform().name("semel-checkpoint").daemon(true).start(this::loop);
    }

    Thread thread() {
        return thread;
    }

    /** Finishes a pending checkpoint. The writer calls this between two batches. */
    void finishPending(Connection writer) throws SQLException {
        if (writerShouldFinish) {
            writerShouldFinish = false;
            // The driver begins the next transaction with each COMMIT, and SQLite does not checkpoint inside a
            // transaction.
            writer.setAutoCommit(true);
            try {
                pass(writer);
            } finally {
                writer.setAutoCommit(false);
            }
        }
    }

    private void loop() {
        Connection connection = null;
        boolean failing = false;
        while (!pause()) {
            try {
                if (connection == null) {
                    connection = opener.open();
                }
                long[] sizes = pass(connection);
                writerShouldFinish = sizes[0] > LARGE_WAL_PAGES;
                failing = false;
            } catch (SQLException e) {
                // Busy only means that another connection checkpoints or opens the file right now.
                boolean busy = (e.getErrorCode() & 0xff) == 5;
                boolean firstFailure = !busy && !failing;
                failing = !busy;
                Level level = firstFailure ? Level.WARNING : Level.DEBUG;
                LOG.log(level, "SQLite checkpoint failed and will be retried: " + e.getMessage());
                close(connection);
                connection = null;
            }
        }
        close(connection);
    }

    /** Runs one pass. Returns the number of pages in the WAL and of pages moved. */
    private static long[] pass(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
            return row.next() ? new long[] {row.getLong(2), row.getLong(3)} : new long[2];
        }
    }

    private boolean pause() {
        lock.lock();
        try {
            return stopped || (stop.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS) && stopped);
        } catch (InterruptedException e) {
            return true;
        } finally {
            lock.unlock();
        }
    }

    private static void close(@Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, "The checkpoint connection did not close", e);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            stop.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @FunctionalInterface
    interface ConnectionOpener {
        Connection open() throws SQLException;
    }
}
