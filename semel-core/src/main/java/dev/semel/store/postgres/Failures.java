package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.sql.SQLException;

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
        boolean answered = state.startsWith("40") || state.startsWith("23") || state.startsWith("25");
        return answered ? of(e) : new StoreFailure.CommitUnknown(e);
    }
}
