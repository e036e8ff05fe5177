package dev.semel.store.sqlite;

import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.TrustedClock;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.SchemaMigrations;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;

/** One process, one write connection. Native calls pin their carrier thread, so callers must use platform threads. */
public final class SqliteStore implements WorkflowStore {
    /** The first version without the WAL-reset bug that can corrupt a database. */
    private static final int[] OLDEST = {3, 51, 3};

    /** One process owns the file, so a migration has no other worker to fence off. */
    static final SchemaMigrations.MigrationDialect MIGRATIONS = new SchemaMigrations.MigrationDialect(
            SchemaMigrations.pathsIn("/dev/semel/store/sqlite"),
            "SELECT 1 FROM sqlite_schema WHERE name = 'semel_migration'",
            List.of());

    private final Path file;
    private final TrustedClock clock;
    private final Supplier<RunId> ids;
    private final boolean forTests;
    private final FileChannel lockChannel;
    private final FileLock lock;
    private final SqliteWriteConnection writer;
    /** Lane and leases share the one writing connection. */
    private final ReentrantLock turn = new ReentrantLock();

    private final WalCheckpointer checkpoints;

    /** @param clock microseconds; the process's own clock is the store's clock, because the store is in the process */
    public SqliteStore(Path file, TrustedClock clock, Supplier<RunId> ids) {
        this(file, clock, ids, false);
    }

    /** For tests that move the time. */
    public SqliteStore(Path file, LongSupplier clock, Supplier<RunId> ids) {
        this(file, TrustedClock.unchecked(clock), ids, false);
    }

    /** Several engines of one process share it, each with its lease. No fsync: commits survive no machine crash. */
    public static SqliteStore forTests(Path file, LongSupplier clock, Supplier<RunId> ids) {
        return new SqliteStore(file, TrustedClock.unchecked(clock), ids, true);
    }

    private SqliteStore(Path file, TrustedClock clock, Supplier<RunId> ids, boolean forTests) {
        this.file = file;
        this.clock = clock;
        this.ids = ids;
        this.forTests = forTests;
        FileChannel channel = null;
        try {
            prepareFile(file);
            channel = FileChannel.open(Path.of(file + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            this.lockChannel = channel;
            this.lock = lockFile();
            this.writer = new SqliteWriteConnection(this::connectWriter);
        } catch (SQLException | IOException e) {
            closeLock(channel, e);
            throw new StoreFailure.Unreachable("The store " + file + " cannot be opened: " + e.getMessage(), e);
        }
        // With auto-commit: the driver would begin a write transaction at once, and the writer holds the only one.
        this.checkpoints = new WalCheckpointer(() -> connect(false));
    }

    /** Closes the channel, which releases the lock, so that the next attempt does not find the file in use. */
    private static void closeLock(@Nullable FileChannel channel, Exception cause) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private static void prepareFile(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(folder);
            if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
            }
        }
        if (!Files.exists(file)) {
            Files.createFile(file);
        }
        if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    private FileLock lockFile() throws IOException {
        FileLock held;
        try {
            held = lockChannel.tryLock();
        } catch (OverlappingFileLockException e) {
            held = null;
        }
        if (held == null) {
            lockChannel.close();
            throw new IOException(
                    "another Semel process uses it. Nothing was changed. Stop that process, or use another file here"
                            + " (server: another --data folder). For several workers, use PostgreSQL.");
        }
        return held;
    }

    private Connection connect(boolean readOnly) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(forTests ? SQLiteConfig.SynchronousMode.OFF : SQLiteConfig.SynchronousMode.FULL);
        config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
        config.setBusyTimeout(5_000);
        config.setCacheSize(-64 * 1024);
        config.setPragma(SQLiteConfig.Pragma.MMAP_SIZE, "0");
        config.setReadOnly(readOnly);
        Connection connection = config.createConnection("jdbc:sqlite:" + file);
        if (!readOnly) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA wal_autocheckpoint = 0");
                statement.execute("PRAGMA journal_size_limit = 67108864");
            }
        }
        return connection;
    }

    private Connection connectWriter() throws SQLException {
        Connection connection = connect(false);
        try {
            rejectOldLibrary(connection);
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private static void rejectOldLibrary(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT sqlite_version()")) {
            row.next();
            String version = row.getString(1);
            if (!isSupportedVersion(version)) {
                throw new SQLException(
                        "SQLite " + version + " can corrupt a WAL database; Semel needs 3.51.3 or later");
            }
        }
    }

    static boolean isSupportedVersion(String version) {
        String[] parts = version.split("\\.");
        for (int i = 0; i < OLDEST.length; i++) {
            int part = i < parts.length ? Integer.parseInt(parts[i]) : 0;
            if (part != OLDEST[i]) {
                return part > OLDEST[i];
            }
        }
        return true;
    }

    @Override
    public void migrate() {
        turn.lock();
        try {
            SchemaMigrations.run(writer.session().connection(), MIGRATIONS);
            clock.continueFrom(writer.session()
                    .queryOne(
                            "SELECT store_time, boot_id, boot_micros FROM semel_clock WHERE singleton = 1",
                            row -> new TrustedClock.StoredTime(row.getLong(1), row.getString(2), row.getLong(3))));
            writer.session().connection().commit();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The schema of " + file + " could not be migrated", e);
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void confirmClock() {
        clock.confirm();
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public int txLanes() {
        return 0; // differs: user code of tx steps runs in the transaction of the only writer
    }

    @Override
    public WorkflowStore.BatchWriter openTxLane() {
        throw new UnsupportedOperationException("The SQLite store has one writer and no lanes for user transactions");
    }

    @Override
    public WorkflowStore.BatchWriter openLane() {
        return new SqliteBatchWriter(writer, turn, new SqliteBatchWriter.LaneDependencies(clock, ids, checkpoints));
    }

    @Override
    public StoreQueries openQueries() {
        try {
            return new SqliteStoreQueries(new JdbcSession(connect(true)), clock);
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store " + file + " cannot be opened for reading", e);
        }
    }

    @Override
    public WorkerLeases openLeases() {
        return new SqliteWorkerLeases(writer, turn, clock, forTests);
    }

    @Override
    public WorkflowStore.Durability durability() {
        turn.lock();
        try {
            WorkflowStore.Durability durability = durability(writer.session().connection());
            writer.session().connection().rollback();
            return durability;
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store " + file + " did not return its durability settings", e);
        } finally {
            turn.unlock();
        }
    }

    static WorkflowStore.Durability durability(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            String journal;
            try (var row = statement.executeQuery("PRAGMA journal_mode")) {
                row.next();
                journal = row.getString(1);
            }
            int synchronous;
            try (var row = statement.executeQuery("PRAGMA synchronous")) {
                row.next();
                synchronous = row.getInt(1);
            }
            boolean safe = synchronous >= 2;
            String survives =
                    safe ? "survives a crash of the process and of the machine" : "may be LOST in a crash (UNSAFE)";
            return new WorkflowStore.Durability(
                    safe,
                    "sqlite journal_mode=" + journal + " synchronous=" + (synchronous == 2 ? "FULL" : synchronous)
                            + ": an acknowledged trigger " + survives);
        }
    }

    @Override
    public List<Thread> threads() {
        return List.of(checkpoints.thread());
    }

    @Override
    public void close() {
        checkpoints.close();
        turn.lock();
        try {
            writer.close();
            lock.release();
            lockChannel.close();
        } catch (SQLException | IOException e) {
            throw new StoreFailure.Unreachable("The store " + file + " did not close cleanly", e);
        } finally {
            turn.unlock();
        }
    }
}
