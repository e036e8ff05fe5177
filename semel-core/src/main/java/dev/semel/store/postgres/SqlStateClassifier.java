package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.sql.SQLException;
import java.util.Set;

final class SqlStateClassifier {
    private SqlStateClassifier() {}

    /** A statement failed; the transaction is not committed. */
    static StoreFailure of(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String group = state.length() < 2 ? "" : state.substring(0, 2);
        if (state.equals("55P03")) {
            // The other codes of class 55 are about the whole database, such as one that accepts no connections.
            return new StoreFailure.LockConflict(true, e);
        }
        return switch (group) {
            case "22", "23", "54" -> new StoreFailure.ValueRejected("PostgreSQL rejected a value (" + state + ")", e);
            case "40" -> new StoreFailure.LockConflict(false, e);
            default -> new StoreFailure.Unreachable("PostgreSQL does not accept writes (" + state + ")", e);
        };
    }

    /** COMMIT failed: only an error response of the server means that nothing was committed. */
    static StoreFailure ofCommit(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        boolean isRejected =
                NOT_COMMITTED.contains(state.length() < 2 ? "" : state.substring(0, 2)) || state.equals("57014");
        return isRejected ? of(e) : new StoreFailure.CommitUnknown(e);
    }

    /** SQLSTATE classes of deferred checks, also of users' constraints and triggers: nothing was committed. */
    private static final Set<String> NOT_COMMITTED =
            Set.of("0A", "21", "22", "23", "25", "2F", "38", "39", "40", "42", "44", "54", "P0");

    /** Whether user code of a tx step left a session in which Semel's tables cannot be found or written. */
    static boolean isSessionUnusable(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return state.startsWith("42") || state.startsWith("3F") || state.startsWith("25");
    }
}
