package dev.semel.store.sqlite;

import dev.semel.store.jdbc.Session;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The one writing connection, replaced after every failure. The driver closes a statement that failed, and on a full
 * disk SQLite ends the transaction behind the driver's back: what comes next would commit statement by statement.
 * Used by whoever has the turn.
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

    /** To be called before a transaction: afterwards the session stands on a connection that has not failed. */
    void ready() throws SQLException {
        if (broken) {
            session.close();
            session.goOn(opener.open());
            broken = false;
        }
    }

    /** Undoes what was not committed. The connection is not used again, whatever became of that. */
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

    @FunctionalInterface
    interface Opener {
        Connection open() throws SQLException;
    }
}
