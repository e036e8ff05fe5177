package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Lane;
import dev.semel.store.Leases;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.jdbc.Migrations;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Many workers on one PostgreSQL. Every connection is dedicated to one lane, reader or lease, so none is ever taken
 * from a pool in the middle of something.
 */
public final class PostgresStore implements Store {
    private static final int LANES = 2;
    private static final int TX_LANES = 4;
    private static final long MIGRATION_LOCK = 0x53454d454c4dL;

    private final Opener opener;
    private final LongSupplier skew;
    private final Supplier<RunId> ids;
    private volatile String self = "";
    private volatile boolean company;

    /** @param skew microseconds added to the database's clock; zero but in tests, which move time by hand */
    public PostgresStore(String url, LongSupplier skew, Supplier<RunId> ids) {
        this(purpose -> DriverManager.getConnection(url, properties(purpose)), skew, ids);
    }

    /** @param source not a pool that others share: the sessions keep settings of their own until they are closed */
    public PostgresStore(DataSource source, LongSupplier skew, Supplier<RunId> ids) {
        this(purpose -> prepared(source.getConnection(), purpose), skew, ids);
    }

    private PostgresStore(Opener opener, LongSupplier skew, Supplier<RunId> ids) {
        this.opener = opener;
        this.skew = skew;
        this.ids = ids;
    }

    @FunctionalInterface
    private interface Opener {
        Connection open(Purpose purpose) throws SQLException;
    }

    /** What the URL says of our own connections, for one that somebody else made. */
    private static Connection prepared(Connection connection, Purpose purpose) throws SQLException {
        connection.unwrap(PGConnection.class).setPrepareThreshold(1);
        connection.setNetworkTimeout(Runnable::run, purpose.socketSeconds() * 1_000);
        connection.setAutoCommit(true);
        return connection;
    }

    /** What a connection is for; it decides how long it may wait. */
    enum Purpose {
        LANE("2s", "10s", "5s"),
        READ("2s", "10s", "5s"),
        LEASE("2s", "10s", "5s"),
        /** Waits for hints and asks nothing. */
        LISTEN("2s", "10s", "5s"),
        /** The user's own statements, which may be slow and of any kind. */
        TX("10s", "30s", "30s");

        final String lockTimeout;
        final String statementTimeout;
        final String idleTimeout;

        Purpose(String lockTimeout, String statementTimeout, String idleTimeout) {
            this.lockTimeout = lockTimeout;
            this.statementTimeout = statementTimeout;
            this.idleTimeout = idleTimeout;
        }

        /** Later than the server's own limit, so that the server tells what happened. */
        int socketSeconds() {
            return this == TX ? 40 : 20;
        }
    }

    private static Properties properties(Purpose purpose) {
        Properties properties = new Properties();
        properties.setProperty("ApplicationName", "semel");
        properties.setProperty("prepareThreshold", "1");
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("connectTimeout", "5");
        properties.setProperty("socketTimeout", String.valueOf(purpose.socketSeconds()));
        properties.setProperty("reWriteBatchedInserts", "false");
        properties.setProperty("targetServerType", "primary");
        return properties;
    }

    Connection connect(Purpose purpose) throws SQLException {
        Connection connection = opener.open(purpose);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = '" + purpose.lockTimeout + "'");
            statement.execute("SET statement_timeout = '" + purpose.statementTimeout + "'");
            statement.execute("SET idle_in_transaction_session_timeout = '" + purpose.idleTimeout + "'");
            statement.execute("SET default_transaction_isolation = 'read committed'");
            if (purpose == Purpose.LANE || purpose == Purpose.READ) {
                // Fresh tables have no statistics and the planner would scan them whole; every statement of a lane
                // and of a reader goes by an index, so the plan is the same on the first day and on the last.
                statement.execute("SET enable_seqscan = off");
                statement.execute("SET enable_hashjoin = off");
                statement.execute("SET enable_mergejoin = off");
                statement.execute("SET enable_bitmapscan = off");
                statement.execute("SET plan_cache_mode = force_generic_plan");
                statement.execute("SET jit = off");
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        connection.setAutoCommit(purpose == Purpose.READ || purpose == Purpose.LISTEN);
        return connection;
    }

    long skew() {
        return skew.getAsLong();
    }

    Supplier<RunId> ids() {
        return ids;
    }

    /** The name of this worker in hints, so that it does not hear its own. */
    String self() {
        return self;
    }

    /** Whether other workers are there who could hear a hint; as of the last renewal of the lease. */
    boolean hasCompany() {
        return company;
    }

    void hasCompany(boolean value) {
        company = value;
    }

    @Override
    public Listening listen(Consumer<@Nullable RunId> told) {
        self = ids.get().text();
        return new Hints(this, told);
    }

    @Override
    public void migrate() {
        try (Connection connection = connect(Purpose.LEASE)) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET lock_timeout = '60s'");
                statement.execute("SET statement_timeout = '0'");
                statement.execute("SELECT pg_advisory_xact_lock(" + MIGRATION_LOCK + ")");
            }
            Migrations.run(connection, "/dev/semel/store/postgres");
            connection.commit();
        } catch (SQLException e) {
            throw new StoreFailure.Down(
                    "PostgreSQL cannot be used as the store: " + e.getMessage() + ". Nothing was changed. Check the "
                            + "--store URL, that the server runs, and that the user may create tables.",
                    e);
        }
    }

    @Override
    public int lanes() {
        return LANES;
    }

    @Override
    public int txLanes() {
        return TX_LANES;
    }

    @Override
    public Lane openTxLane() {
        return new PostgresTx(this);
    }

    @Override
    public Lane openLane() {
        return new PostgresLane(this);
    }

    @Override
    public Reads openReads() {
        try {
            return new PostgresReads(this, connect(Purpose.READ));
        } catch (SQLException e) {
            throw new StoreFailure.Down("PostgreSQL cannot be reached for reading", e);
        }
    }

    @Override
    public Leases openLeases() {
        return new PostgresLeases(this);
    }

    @Override
    public String durability() {
        try (Connection connection = connect(Purpose.READ);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("""
                    SELECT current_setting('fsync'), current_setting('synchronous_commit'),
                           current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
                           current_setting('server_version')
                    """)) {
            row.next();
            boolean safe = row.getString(1).equals("on")
                    && !row.getString(2).equals("off")
                    && row.getString(3).equals("on");
            String standby = row.getString(4).isEmpty() ? "none" : row.getString(4);
            return "postgresql " + row.getString(5) + " fsync=" + row.getString(1) + " synchronous_commit="
                    + row.getString(2) + " full_page_writes=" + row.getString(3) + " synchronous_standby=" + standby
                    + ": an answered trigger "
                    + (safe ? "survives a crash of the process and of the machine" : "may be LOST in a crash (UNSAFE)");
        } catch (SQLException e) {
            throw new StoreFailure.Down("PostgreSQL did not tell its durability settings", e);
        }
    }

    @Override
    public void close() {}
}
