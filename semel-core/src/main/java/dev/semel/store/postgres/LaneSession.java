package dev.semel.store.postgres;

import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The session of one lane or lease. After a failure it is dropped, and the next use opens a new one. */
final class LaneSession {
    private final PostgresStore store;
    private final PostgresConnectionPurpose purpose;
    private @Nullable JdbcSession session;

    LaneSession(PostgresStore store, PostgresConnectionPurpose purpose) {
        this.store = store;
        this.purpose = purpose;
    }

    JdbcSession connected() throws SQLException {
        JdbcSession current = session;
        if (current == null) {
            current = new JdbcSession(store.connect(purpose));
            session = current;
        }
        return current;
    }

    void rollback() throws SQLException {
        if (session != null) {
            session.connection().rollback();
        }
    }

    /** Closes the connection, with its prepared statements. The server rolls back what is not committed. */
    void drop(Throwable cause) {
        JdbcSession current = session;
        session = null;
        try {
            if (current != null) {
                current.close();
            }
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    void close() {
        drop(new IllegalStateException("closed"));
    }
}
