package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/**
 * Finds out whether a pooler hands our transactions to sessions that others use too. There time-outs would be missing or
 * somebody else's, and prepared statements would be unknown; so such a one is refused, and one that keeps a session for
 * each client is fine.
 */
final class Pooling {
    private static final int LOOKS = 5;

    private Pooling() {}

    @FunctionalInterface
    interface Opener {
        Connection open() throws SQLException;
    }

    static void refuse(Opener opener) throws SQLException {
        try {
            look(opener);
        } catch (SQLException e) {
            // Statements that another client prepared, or that only another session knows.
            if ("42P05".equals(e.getSQLState()) || "26000".equals(e.getSQLState())) {
                throw shared();
            }
            throw e;
        }
    }

    private static void look(Opener opener) throws SQLException {
        try (Connection one = opener.open();
                Statement first = one.createStatement()) {
            // A pooler cannot tell a client of a session that will change, so it makes a number up.
            int told = one.unwrap(PGConnection.class).getBackendPID();
            if (String.valueOf(told).equals(text(first, "SELECT pg_backend_pid()"))) {
                return;
            }
            String mark = "made up " + told;
            try (Connection other = opener.open();
                    Statement second = other.createStatement()) {
                for (int i = 0; i < LOOKS; i++) {
                    first.execute("SET semel.session = '" + mark + "'");
                    if (mark.equals(text(second, "SELECT current_setting('semel.session', true)"))) {
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

    private static StoreFailure.Down shared() {
        return new StoreFailure.Down(
                "PostgreSQL cannot be used as the store through this pooler: it shares sessions between transactions"
                    + " of different clients. Nothing was changed. Set pool_mode = session for this database, or name"
                    + " the server itself in the URL.",
                new IllegalStateException("pooler"));
    }
}
