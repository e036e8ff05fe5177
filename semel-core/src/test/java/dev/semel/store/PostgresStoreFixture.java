package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.postgres.PostgresStore;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A schema of its own on a real PostgreSQL, one server for all tests of the process. Time is moved by hand: the schema
 * stands before the system's own and has a {@code clock_timestamp()} that answers what the test says, so that edges are
 * met to the microsecond.
 */
public final class PostgresStoreFixture implements StoreFixture {
    private static final AtomicLong SCHEMAS = new AtomicLong();
    private static final ConcurrentLinkedQueue<String> EMPTIED = new ConcurrentLinkedQueue<>();

    private final String schema;
    private final AtomicLong ids = new AtomicLong();
    private final boolean byHand;
    private final boolean reused;
    private volatile long time = START;

    private PostgresStoreFixture(boolean byHand) {
        this("place_" + SCHEMAS.incrementAndGet(), byHand, false);
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

    private PostgresStoreFixture(String schema, boolean byHand, boolean reused) {
        this.schema = schema;
        this.byHand = byHand;
        this.reused = reused;
    }

    /**
     * The same as {@link #withClockByHand}, migrated already: a schema whose last test left nothing but our tables, all of
     * them emptied. Making a new one takes longer than most tests.
     */
    public static PostgresStoreFixture emptied() {
        String known = EMPTIED.poll();
        if (known == null) {
            PostgresStoreFixture made = new PostgresStoreFixture(true);
            made.store().close();
            known = made.schema;
        }
        return new PostgresStoreFixture(known, true, true);
    }

    public static PostgresStoreFixture withClockByHand() {
        return new PostgresStoreFixture(true);
    }

    /** The database's own clock goes on; only the skew of a store can move it. */
    public static PostgresStoreFixture withItsOwnClock() {
        return new PostgresStoreFixture(false);
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
    public WorkflowStore store() {
        WorkflowStore store = new PostgresStore(url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1));
        return StoreFixture.migrated(store);
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
            Await.until("somebody waits for the lock", () -> {
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
        if (reused && isOurs()) {
            execute("""
                SET session_replication_role = replica;
                SET lock_timeout = 5000;
                DO $$ DECLARE t text; BEGIN
                    FOR t IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                             WHERE schemaname = current_schema() AND tablename NOT IN ('semel_migration', 'hand') LOOP
                        EXECUTE 'DELETE FROM ' || t;
                    END LOOP;
                END $$;
                INSERT INTO semel_catalog (singleton, revision) VALUES (1, 1);
                UPDATE hand SET micros =\s\
                """ + START);
            EMPTIED.add(schema);
        } else {
            execute("DROP SCHEMA " + schema + " CASCADE");
        }
    }

    /** Whether a test has left tables, functions or migrations of its own, which would meet the next one. */
    private boolean isOurs() {
        return number("""
            SELECT (SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()
                        AND tablename NOT LIKE 'semel%' AND tablename <> 'hand')
                 + (SELECT count(*) - 1 FROM pg_proc WHERE pronamespace = current_schema()::regnamespace)
                 + (SELECT count(*) FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
                        WHERE c.relnamespace = current_schema()::regnamespace AND NOT g.tgisinternal)
                 + (SELECT abs(max(number) - count(*)) FROM semel_migration)
                 + (SELECT abs(count(*) - 1) FROM hand)
            """) == 0;
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
