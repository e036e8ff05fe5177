package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/** Shared sessions would lack time-outs and prepared statements, or have another client's. Session mode is accepted. */
final class PostgresPoolerCompatibilityCheck {
    private static final int CHECKS = 5;

    private PostgresPoolerCompatibilityCheck() {}

    @FunctionalInterface
    interface ConnectionOpener {
        Connection open() throws SQLException;
    }

    static void rejectSharedSessions(ConnectionOpener opener) throws SQLException {
        try {
            check(opener);
        } catch (SQLException e) {
            // A prepared statement of another client, or one that only another session has.
            if ("42P05".equals(e.getSQLState()) || "26000".equals(e.getSQLState())) {
                throw shared();
            }
            throw e;
        }
    }

    private static void check(ConnectionOpener opener) throws SQLException {
        try (Connection one = opener.open();
                Statement first = one.createStatement()) {
            // A pooler cannot give the client the process id of a session that will change, so it invents one.
            int reported = one.unwrap(PGConnection.class).getBackendPID();
            if (String.valueOf(reported).equals(text(first, "SELECT pg_backend_pid()"))) {
                return;
            }
            String marker = "invented " + reported;
            try (Connection other = opener.open();
                    Statement second = other.createStatement()) {
                for (int i = 0; i < CHECKS; i++) {
                    first.execute("SET semel.session = '" + marker + "'");
                    if (marker.equals(text(second, "SELECT current_setting('semel.session', true)"))) {
                        throw shared();
                    }
                }
            }
        }
    }

    private static String text(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        }
    }

    private static StoreFailure.Unreachable shared() {
        return new StoreFailure.Unreachable(
                "PostgreSQL cannot be used as the store through this pooler: it shares sessions between transactions"
                        + " of different clients. Nothing was changed. Set pool_mode = session for this database, or"
                        + " connect without the pooler: use the host and port of PostgreSQL in the URL.",
                new IllegalStateException("pooler"));
    }
}
