package dev.semel.trials.support;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One store with one server on it, for the tests of one class. It opens at its first use, hears every refusal and
 * every line of the log, and knows a value that stands in payloads and must come up in neither.
 */
public final class ServerFixture {
    /** A value that is sent inside payloads. No error and no log line may ever show it. */
    public static final String CANARY = "canary-Zq81vXw0";

    private final StoreKind kind;
    private final boolean dev;
    private final AtomicInteger keys = new AtomicInteger();
    private final Queue<HttpReply> refusals = new ConcurrentLinkedQueue<>();
    private final LogCapture log = new LogCapture();
    private @Nullable RunningServer opened;

    private record RunningServer(Path folder, String store, LiveServer server) {}

    public ServerFixture(StoreKind kind) {
        this(kind, false);
    }

    /** @param dev `semel dev --demo`, which may call this machine, instead of `semel serve` */
    public ServerFixture(StoreKind kind, boolean dev) {
        this.kind = kind;
        this.dev = dev;
    }

    @Override
    public String toString() {
        return kind.name();
    }

    public StoreKind kind() {
        return kind;
    }

    private synchronized RunningServer opened() {
        RunningServer runningServer = opened;
        if (runningServer == null) {
            Path folder = folder();
            String store = kind.fresh(folder);
            log.start();
            LiveServer server =
                    dev ? LiveServer.dev(store, folder, this::hear) : LiveServer.first(store, folder, this::hear);
            runningServer = new RunningServer(folder, store, server);
            opened = runningServer;
        }
        return runningServer;
    }

    private static Path folder() {
        try {
            return Files.createTempDirectory("semel-trial");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Only after a good end: what a failed trial leaves behind may be looked at. */
    private static void delete(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void hear(HttpReply reply) {
        if (reply.status() >= 400) {
            refusals.add(reply);
        }
    }

    public LiveServer server() {
        return opened().server();
    }

    public ApiCaller admin() {
        return server().admin();
    }

    public String store() {
        return opened().store();
    }

    public Path data() {
        return opened().folder();
    }

    public LogCapture log() {
        return log;
    }

    /** A second server on the same store. Only PostgreSQL has room for it. */
    public LiveServer another() {
        return LiveServer.another(store(), folder(), server());
    }

    /** A key that no other test of this store uses. */
    public String key() {
        return "key-" + keys.incrementAndGet();
    }

    public Connection connect() throws SQLException {
        return StoreKind.connect(store());
    }

    public long count(String sql) {
        try (Connection connection = connect()) {
            return Invariants.count(connection, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Everything that an attack could have left behind. */
    public String rows() {
        return "keys " + count("SELECT count(*) FROM semel_key") + ", runs " + count("SELECT count(*) FROM semel_run")
                + ", workspaces " + count("SELECT count(*) FROM semel_workspace") + ", tokens "
                + count("SELECT count(*) FROM semel_token");
    }

    /** Stops the server and looks at what it leaves. */
    public void end() {
        RunningServer runningServer = opened;
        if (runningServer == null) {
            return;
        }
        runningServer.server().close();
        log.stop();
        Invariants.check(runningServer.store());
        for (HttpReply refusal : refusals) {
            assertFalse(
                    (refusal.lines() + refusal.body()).contains(CANARY),
                    () -> "an error shows a payload value: " + refusal);
        }
        assertFalse(log.text().contains(CANARY), "the log shows a payload value");
        delete(runningServer.folder());
    }
}
