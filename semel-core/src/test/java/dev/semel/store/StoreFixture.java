package dev.semel.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Where a store can be: a fresh file or a fresh schema. Its clock is moved by hand, to the microsecond. */
public interface StoreFixture extends AutoCloseable {
    /** Where the clock stands at first. */
    long START = 1_800_000_000_000_000L;

    /** What to give to {@code Settings.of}. */
    String url();

    /** The store's clock in microseconds. */
    long time();

    void setTime(long micros);

    default void advance(Duration by) {
        setTime(time() + by.toNanos() / 1_000);
    }

    /** A store here, migrated. SQLite allows one at a time. */
    WorkflowStore store();

    static WorkflowStore migrated(WorkflowStore store) {
        try {
            store.migrate();
            return store;
        } catch (StoreFailure e) {
            store.close();
            throw e;
        }
    }

    /** A connection beside the store, for looking and for tampering. */
    Connection jdbc();

    default long count(String table) {
        return number("SELECT count(*) FROM " + table);
    }

    /** The one number that a query answers. */
    default long number(String query) {
        try (Connection connection = jdbc();
                var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(query, e);
        }
    }

    default int execute(String sql) {
        try (Connection connection = jdbc();
                var statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    @Override
    void close();
}
