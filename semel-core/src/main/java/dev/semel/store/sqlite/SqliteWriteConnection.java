package dev.semel.store.sqlite;

import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The only write connection to the SQLite file, replaced after every failure. The driver closes a failed statement, and
 * on a full disk SQLite ends the transaction without the driver's knowledge: later statements would commit one by one.
 * Callers hold the write lock.
 */
final class SqliteWriteConnection implements AutoCloseable {
    private final ConnectionOpener opener;
    private final JdbcSession session;
    private boolean broken;

    SqliteWriteConnection(ConnectionOpener opener) throws SQLException {
        this.opener = opener;
        this.session = new JdbcSession(opener.open());
    }

    JdbcSession session() {
        return session;
    }

    /** Opens a new connection if the last one failed. Call this before each transaction. */
    void reopenIfBroken() throws SQLException {
        if (broken) {
            session.close();
            session.replaceConnection(opener.open());
            broken = false;
        }
    }

    /** Rolls back. The connection is not used again, even if the rollback succeeds. */
    void markFailed(Throwable cause) {
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

    @FunctionalInterface
    interface ConnectionOpener {
        Connection open() throws SQLException;
    }
}
