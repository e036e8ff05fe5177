package dev.semel.store.sqlite;

import dev.semel.store.jdbc.Session;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The only write connection to the SQLite file, replaced after every failure. The driver closes a failed statement, and
 * on a full disk SQLite ends the transaction without the driver's knowledge: later statements would commit one by one.
 * Callers hold the write lock.
 */
final class Writer implements AutoCloseable {
    private final Opener opener;
    private final Session session;
    private boolean broken;

    Writer(Opener opener) throws SQLException {
        this.opener = opener;
        this.session = new Session(opener.open());
    }

    Session session() {
        return session;
    }

    /** Opens a new connection if the last one failed. Call this before each transaction. */
    void ready() throws SQLException {
        if (broken) {
            session.close();
            session.goOn(opener.open());
            broken = false;
        }
    }

    /** Rolls back. The connection is not used again, even if the rollback succeeds. */
    void failed(Throwable cause) {
        broken = true;
        try {
            session.connection().rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() throws SQLException {
        session.close();
    }

    /** Opens a write connection. */
    @FunctionalInterface
    interface Opener {
        Connection open() throws SQLException;
    }
}
