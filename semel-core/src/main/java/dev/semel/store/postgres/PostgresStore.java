package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.session.SchemaMigrations;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Shared by many workers. Each connection is dedicated to one lane, reader or lease; there is no connection pool. */
public final class PostgresStore implements WorkflowStore {
    private static final int LANES = 2;
    private static final int TX_LANES = 4;
    private static final long MIGRATION_LOCK = 0x53454d454c4dL;

    // differs: other workers run during a migration. A breaking one waits for their batches in flight and ends their
    // leases first, so that they cannot write any more.
    static final SchemaMigrations.MigrationDialect MIGRATIONS = new SchemaMigrations.MigrationDialect(
            SchemaMigrations.pathsIn("/dev/semel/store/postgres"),
            "SELECT 1 WHERE to_regclass('semel_migration') IS NOT NULL",
            List.of(
                    "SELECT revision FROM semel_catalog WHERE singleton = 1 FOR UPDATE",
                    "SELECT slot FROM semel_fence ORDER BY lease, slot FOR UPDATE",
                    "UPDATE semel_unfinished_run SET owner = NULL WHERE owner IS NOT NULL",
                    "DELETE FROM semel_fence",
                    "DELETE FROM semel_lease"));

    private static final String MISSING_PRIVILEGE = """
        SELECT r.name || ' on ' || c.relname
        FROM pg_class c CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) r(name)
        WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('semel_migration'))
          AND c.relname LIKE 'semel\\_%' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND (c.relname <> 'semel_migration' OR r.name = 'SELECT')
          AND NOT has_table_privilege(c.oid, r.name)
        ORDER BY c.relname, r.name LIMIT 1
        """;

    // The session default of a lane; lease connections turn synchronous_commit off.
    private static final String SETTINGS = """
        SELECT current_setting('fsync'), (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
            current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
            current_setting('server_version')
        """;

    /** Semel's schema first: another installation of Semel may have its tables in the default schema. */
    private static final String SET_SCHEMA = """
        SELECT set_config('search_path',
            quote_ident(?) || COALESCE(', ' || NULLIF((SELECT reset_val FROM pg_settings WHERE name = 'search_path'), ''), ''),
            false)
        """;

    private static final String SCHEMA_EXISTS = "SELECT 1 FROM pg_namespace WHERE nspname = ?";

    private final ConnectionOpener opener;
    private final @Nullable String schema;
    private final PostgresConnectionErrorMessages troubles;
    private final LongSupplier skew;
    private final Supplier<RunId> ids;
    private volatile String workerId = "";
    private volatile boolean company;

    /** @param skew microseconds added to the database's clock; zero except in tests */
    public PostgresStore(String url, LongSupplier skew, Supplier<RunId> ids) {
        this(
                purpose -> DriverManager.getConnection(url, purpose.properties()),
                null,
                PostgresConnectionErrorMessages.of(url),
                skew,
                ids);
    }

    /**
     * @param source must not be a shared pool, because sessions keep Semel's settings until they are closed
     * @param schema the schema of Semel's tables; null for the default schema of the connections
     */
    public PostgresStore(DataSource source, @Nullable String schema, LongSupplier skew, Supplier<RunId> ids) {
        this(
                purpose -> prepared(source.getConnection(), purpose),
                schema,
                PostgresConnectionErrorMessages.ofDataSource(),
                skew,
                ids);
    }

    private PostgresStore(
            ConnectionOpener opener,
            @Nullable String schema,
            PostgresConnectionErrorMessages troubles,
            LongSupplier skew,
            Supplier<RunId> ids) {
        this.opener = opener;
        this.schema = schema;
        this.troubles = troubles;
        this.skew = skew;
        this.ids = ids;
    }

    @FunctionalInterface
    private interface ConnectionOpener {
        Connection open(PostgresConnectionPurpose purpose) throws SQLException;
    }

    /** Applies the connection properties of a URL to a connection of a data source. */
    private static Connection prepared(Connection connection, PostgresConnectionPurpose purpose) throws SQLException {
        connection.unwrap(PGConnection.class).setPrepareThreshold(1);
        connection.setNetworkTimeout(Runnable::run, purpose.socketMillis());
        connection.setAutoCommit(true);
        return connection;
    }

    Connection connect(PostgresConnectionPurpose purpose) throws SQLException {
        Connection connection = opener.open(purpose);
        try (Statement statement = connection.createStatement()) {
            statement.execute(purpose.settings(connection.getMetaData().getDatabaseMajorVersion()));
            if (schema != null) {
                queryText(connection, SET_SCHEMA, schema);
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        connection.setAutoCommit(
                purpose == PostgresConnectionPurpose.READ || purpose == PostgresConnectionPurpose.LISTEN);
        return connection;
    }

    private static @Nullable String queryText(Connection connection, String sql, String parameter) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, parameter);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getString(1) : null;
            }
        }
    }

    long skew() {
        return skew.getAsLong();
    }

    Supplier<RunId> ids() {
        return ids;
    }

    /** The id of this worker in notifications, so that it ignores its own. */
    String workerId() {
        return workerId;
    }

    /** Whether other workers may need notifications; as of the last takeover check. */
    boolean hasOtherWorkers() {
        return company;
    }

    void hasOtherWorkers(boolean value) {
        company = value;
    }

    @Override
    public WakeSubscription listen(Consumer<@Nullable RunId> listener) {
        workerId = ids.get().text();
        return new PostgresWorkerNotifier(this, listener);
    }

    @Override
    public void migrate() {
        try {
            PostgresPoolerCompatibilityCheck.rejectSharedSessions(() -> connect(PostgresConnectionPurpose.READ));
            runMigrations();
        } catch (SQLException e) {
            throw troubles.startFailure(e);
        }
    }

    private void runMigrations() throws SQLException {
        try (Connection connection = connect(PostgresConnectionPurpose.MIGRATION);
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_advisory_xact_lock(" + MIGRATION_LOCK + ")");
            createSchema(connection, statement);
            SchemaMigrations.run(connection, MIGRATIONS);
            requirePrivileges(statement);
            connection.commit();
        }
    }

    /** Checks for the schema first: CREATE SCHEMA IF NOT EXISTS needs a privilege even if the schema exists. */
    private void createSchema(Connection connection, Statement statement) throws SQLException {
        if (schema != null && queryText(connection, SCHEMA_EXISTS, schema) == null) {
            statement.execute("CREATE SCHEMA " + queryText(connection, "SELECT quote_ident(?)", schema));
        }
    }

    /** Checks table privileges at start, so that a missing one does not fail the first trigger. */
    private static void requirePrivileges(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery(MISSING_PRIVILEGE)) {
            if (row.next()) {
                throw new SQLException("permission denied: " + row.getString(1), "42501");
            }
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
    public WorkflowStore.BatchWriter openTxLane() {
        return new PostgresUserTransactionWriter(this);
    }

    @Override
    public WorkflowStore.BatchWriter openLane() {
        return new PostgresBatchWriter(this);
    }

    @Override
    public StoreQueries openQueries() {
        try {
            return new PostgresStoreQueries(this, connect(PostgresConnectionPurpose.READ));
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("PostgreSQL cannot be reached for reading", e);
        }
    }

    @Override
    public WorkerLeases openLeases() {
        return new PostgresWorkerLeases(this);
    }

    @Override
    public WorkflowStore.Durability durability() {
        try (Connection connection = connect(PostgresConnectionPurpose.READ);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SETTINGS)) {
            row.next();
            return durability(row, 1);
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("PostgreSQL did not return its durability settings", e);
        }
    }

    /** Maps the five settings that begin at this column. */
    static WorkflowStore.Durability durability(ResultSet row, int at) throws SQLException {
        String fsync = row.getString(at);
        String commit = row.getString(at + 1);
        String pages = row.getString(at + 2);
        String standby = row.getString(at + 3).isEmpty() ? "none" : row.getString(at + 3);
        boolean safe = fsync.equals("on") && !commit.equals("off") && pages.equals("on");
        return new WorkflowStore.Durability(
                safe,
                "postgresql " + row.getString(at + 4) + " fsync=" + fsync + " synchronous_commit=" + commit
                        + " full_page_writes=" + pages + " synchronous_standby=" + standby
                        + ": an acknowledged trigger "
                        + (safe
                                ? "survives a crash of the process and of the machine"
                                : "may be LOST in a crash (UNSAFE)"));
    }

    @Override
    public void close() {}
}
