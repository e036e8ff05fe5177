package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.sql.SQLException;
import java.util.Set;

/** What an SQLSTATE says about the state of the store. */
final class Failures {
    private Failures() {}

    /** A statement failed; the transaction is not committed. */
    static StoreFailure of(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String group = state.length() < 2 ? "" : state.substring(0, 2);
        if (state.equals("55P03")) {
            // The rest of its group speaks of the database as a whole, such as one that takes no connections.
            return new StoreFailure.Locked(true, e);
        }
        return switch (group) {
            case "22", "23", "54" -> new StoreFailure.Poisoned("PostgreSQL refused a value (" + state + ")", e);
            case "40" -> new StoreFailure.Locked(false, e);
            default -> new StoreFailure.Down("PostgreSQL does not take writes (" + state + ")", e);
        };
    }

    /** COMMIT failed: only an answer of the server tells that nothing was committed. */
    static StoreFailure ofCommit(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        boolean answered = REFUSED.contains(state.length() < 2 ? "" : state.substring(0, 2)) || state.equals("57014");
        return answered ? of(e) : new StoreFailure.CommitUnknown(e);
    }

    /** What checks that wait for the commit may say, those that the user wrote as well: then nothing was committed. */
    private static final Set<String> REFUSED =
            Set.of("0A", "21", "22", "23", "25", "2F", "38", "39", "40", "42", "44", "54", "P0");

    /** The code of a tx step left a session in which nothing of ours is found, or may be written. */
    static boolean isAstray(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return state.startsWith("42") || state.startsWith("3F") || state.startsWith("25");
    }
}
