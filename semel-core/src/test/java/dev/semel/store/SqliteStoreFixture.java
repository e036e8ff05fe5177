package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.sqlite.SqliteStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** A file in a folder of its own. */
public final class SqliteStoreFixture implements StoreFixture {
    private final AtomicLong time = new AtomicLong(START);
    private final AtomicLong ids = new AtomicLong();
    private final boolean shared;
    private final Path folder;

    public SqliteStoreFixture() {
        this(false);
    }

    /** As the kit uses it: engines share the file, and no commit waits for the disk. */
    static SqliteStoreFixture shared() {
        return new SqliteStoreFixture(true);
    }

    private SqliteStoreFixture(boolean shared) {
        this.shared = shared;
        try {
            folder = Files.createTempDirectory("semel-test");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path file() {
        return folder.resolve("data").resolve("semel.db");
    }

    @Override
    public String url() {
        return "sqlite:" + file();
    }

    @Override
    public long time() {
        return time.get();
    }

    @Override
    public void setTime(long micros) {
        time.set(micros);
    }

    @Override
    public WorkflowStore store() {
        Supplier<RunId> next = () -> new RunId(ids.incrementAndGet(), 1);
        return StoreFixture.migrated(
                shared ? SqliteStore.forTests(file(), time::get, next) : new SqliteStore(file(), time::get, next));
    }

    @Override
    public Connection jdbc() {
        try {
            return DriverManager.getConnection("jdbc:sqlite:" + file());
        } catch (SQLException e) {
            throw new AssertionError("the file cannot be opened beside the store", e);
        }
    }

    @Override
    public void close() {
        try (var files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
