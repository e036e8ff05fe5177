package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.postgres.PostgresStore;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A schema of its own on a real PostgreSQL, one server for all tests of the process. Time is moved by hand: the schema
 * stands before the system's own and has a {@code clock_timestamp()} that answers what the test says, so that edges are
 * met to the microsecond.
 */
public final class PostgresPlace implements Place {
    private static final AtomicLong SCHEMAS = new AtomicLong();

    private final String schema = "place_" + SCHEMAS.incrementAndGet();
    private final AtomicLong ids = new AtomicLong();
    private final boolean byHand;
    private volatile long time = START;

    private PostgresPlace(boolean byHand) {
        this.byHand = byHand;
        try (Connection connection = DriverManager.getConnection(Server.URL);
                var statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + schema);
            if (byHand) {
                statement.execute("CREATE TABLE " + schema + ".hand (micros bigint NOT NULL)");
                statement.execute("INSERT INTO " + schema + ".hand VALUES (" + START + ")");
                statement.execute("CREATE FUNCTION " + schema + ".clock_timestamp() RETURNS timestamptz LANGUAGE sql "
                        + "VOLATILE AS 'SELECT timestamptz ''epoch'' + micros * interval ''1 microsecond'' FROM "
                        + schema + ".hand'");
            }
        } catch (SQLException e) {
            throw new AssertionError("a schema could not be made", e);
        }
    }

    public static PostgresPlace withClockByHand() {
        return new PostgresPlace(true);
    }

    /** The database's own clock goes on; only the skew of a store can move it. */
    public static PostgresPlace withItsOwnClock() {
        return new PostgresPlace(false);
    }

    @Override
    public String url() {
        String path = byHand ? schema + ",pg_catalog" : schema;
        return Server.URL + (Server.URL.contains("?") ? "&" : "?") + "currentSchema=" + path;
    }

    @Override
    public long time() {
        return time;
    }

    @Override
    public void setTime(long micros) {
        if (!byHand) {
            throw new IllegalStateException("this clock is the database's own");
        }
        execute("UPDATE " + schema + ".hand SET micros = " + micros);
        time = micros;
    }

    @Override
    public Store store() {
        Store store = new PostgresStore(url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1));
        return Place.migrated(store);
    }

    @Override
    public Connection jdbc() {
        try {
            return DriverManager.getConnection(url());
        } catch (SQLException e) {
            throw new AssertionError("the server cannot be reached beside the store", e);
        }
    }

    /** Waits until another transaction waits for a lock of this one. */
    public static void awaitBlockedBy(Connection holder) {
        try (Connection beside = DriverManager.getConnection(Server.URL);
                var statement = beside.prepareStatement(
                        "SELECT count(*) FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))")) {
            // From beside, because a transaction sees the activity as it was when it looked first.
            statement.setInt(1, backend(holder));
            Waiting.until("somebody waits for the lock", () -> {
                try (var row = statement.executeQuery()) {
                    row.next();
                    return row.getLong(1) > 0;
                }
            });
        } catch (SQLException e) {
            throw new AssertionError("the activity could not be looked at", e);
        }
    }

    private static int backend(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Override
    public void close() {
        execute("DROP SCHEMA " + schema + " CASCADE");
    }

    /** Starts with the first place and ends with the process. */
    private static final class Server {
        static final String URL = start();

        @SuppressWarnings("resource") // closed by its own shutdown hook
        private static String start() {
            try {
                return EmbeddedPostgres.builder()
                        .setServerConfig("max_connections", "300")
                        .start()
                        .getJdbcUrl("postgres", "postgres");
            } catch (IOException e) {
                throw new UncheckedIOException("PostgreSQL for tests did not start", e);
            }
        }
    }
}
