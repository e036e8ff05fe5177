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
 * Moves pages from the WAL into the file, off the writer's path. Under constant load a passive checkpoint never meets
 * the end of the WAL, so once most of it is done the writer is asked to do the last pages itself between two batches:
 * then the WAL begins anew and its file is recycled instead of growing.
 */
final class Checkpoints implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Checkpoints.class.getName());
    private static final int LARGE_WAL_PAGES = 16_384;
    /** Ten passes a second instead of one doubled the slowest answers: the disk is shared with the commits. */
    private static final long PAUSE_MILLIS = 1_000;

    private final Opener opener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition stop = lock.newCondition();
    private final Thread thread;
    private volatile boolean stopped;
    private volatile boolean writerShouldFinish;

    Checkpoints(Opener opener) {
        this.opener = opener;
        this.thread = Thread.ofPlatform().name("semel-checkpoint").daemon(true).start(this::loop);
    }

    /** Called by the writer between two batches. */
    void finish(Connection writer) throws SQLException {
        if (writerShouldFinish) {
            writerShouldFinish = false;
            // The driver begins the next transaction with each COMMIT, and inside of one there is no checkpoint.
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
                // Busy only means that somebody else checkpoints or opens the file right now.
                boolean busy = (e.getErrorCode() & 0xff) == 5;
                boolean news = !busy && !failing;
                failing = !busy;
                LOG.log(news ? Level.WARNING : Level.DEBUG, "a checkpoint is tried again: " + e.getMessage());
                close(connection);
                connection = null;
            }
        }
        close(connection);
    }

    /** Pages in the WAL, pages moved. */
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
            LOG.log(Level.DEBUG, "a checkpoint connection did not close", e);
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
    interface Opener {
        Connection open() throws SQLException;
    }
}
