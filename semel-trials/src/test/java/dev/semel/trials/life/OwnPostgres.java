package dev.semel.trials.life;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.JavaProcess;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A real PostgreSQL of a trial's own, which can be stopped in every way, started again, copied and promoted. */
final class OwnPostgres implements AutoCloseable {
    /** Signals of the postmaster. */
    enum Stop {
        /** Ends the sessions and closes the database. */
        FAST("-INT"),
        /** Ends everything without closing; the next start recovers. */
        IMMEDIATE("-QUIT"),
        KILL("-KILL");

        final String signal;

        Stop(String signal) {
            this.signal = signal;
        }
    }

    private final Path data;
    private final Path binary;
    private final int port;
    private @Nullable Process server;

    private OwnPostgres(Path data, Path binary, int port) {
        this.data = data;
        this.binary = binary;
        this.port = port;
    }

    /** A new one below this folder, running. */
    static OwnPostgres start(Path folder) {
        Path data = folder.resolve("primary");
        try {
            Path binary;
            // The embedded server unpacks itself and makes the database files; from then on we drive it ourselves.
            try (EmbeddedPostgres made = EmbeddedPostgres.builder()
                    .setDataDirectory(data)
                    .setCleanDataDirectory(false)
                    .start()) {
                binary = binary(data, made.getPort());
            }
            OwnPostgres postgres = new OwnPostgres(data, binary, freePort());
            postgres.startAgain();
            return postgres;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path binary(Path data, int port) throws IOException {
        String pid =
                Files.readAllLines(data.resolve("postmaster.pid")).getFirst().strip();
        Path binary = Path.of("/proc", pid, "exe").toRealPath();
        if (!binary.endsWith("postgres")) {
            throw new IOException("no server found behind port " + port + ": " + binary);
        }
        return binary;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    String url(String database) {
        return url(database, "127.0.0.1:" + port);
    }

    static String url(String database, String hosts) {
        return "jdbc:postgresql://" + hosts + "/" + database + "?user=postgres&sslmode=disable";
    }

    /** Returns when it takes connections; right after a kill it may have to be asked several times. */
    void startAgain() {
        ConcurrentCalls.until("PostgreSQL takes connections", () -> {
            Process running = server;
            if (running == null || !running.isAlive()) {
                server = launch();
            }
            return answers();
        });
    }

    private Process launch() {
        List<String> command = new ArrayList<>();
        try {
            if (Files.getAttribute(data, "unix:uid").equals(0)) {
                command.addAll(List.of("unshare", "-U")); // PostgreSQL does not run as root
            }
            command.addAll(List.of(binary.toString(), "-D", data.toString(), "-p", String.valueOf(port)));
            for (String setting : List.of(
                    "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=60", "hot_standby=on")) {
                command.addAll(List.of("-c", setting));
            }
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            data.resolveSibling(data.getFileName() + ".log").toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean answers() {
        try (Connection _ = DriverManager.getConnection(url("postgres"))) {
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    void stop(Stop how) {
        Process running = server;
        if (running == null) {
            return;
        }
        JavaProcess.signal(how.signal, running.pid());
        try {
            running.waitFor();
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
        server = null;
    }

    /** A standby with what this one has, which must be stopped; started, and read-only until it is promoted. */
    OwnPostgres standby() {
        try {
            OwnPostgres standby = new OwnPostgres(data.resolveSibling("standby"), binary, freePort());
            standby.takeFilesOf(this);
            return standby;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As replication would have done it, up to the last byte: becomes a standby of one that is stopped. */
    void takeFilesOf(OwnPostgres other) {
        stop(Stop.IMMEDIATE);
        try {
            if (Files.exists(data)) {
                try (Stream<Path> old = Files.walk(data)) {
                    for (Path file : old.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(file);
                    }
                }
            }
            try (Stream<Path> files = Files.walk(other.data)) {
                for (Path file : files.toList()) {
                    Files.copy(file, data.resolve(other.data.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
            Files.createFile(data.resolve("standby.signal"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        startAgain();
    }

    /** Changes a setting of the running server, as an operator would. */
    void set(String setting) {
        execute("postgres", "ALTER SYSTEM SET " + setting);
        execute("postgres", "SELECT pg_reload_conf()");
    }

    /** Also while the server is notified to take no writes. */
    void execute(String database, String sql) {
        String url = url(database) + "&options=-c%20default_transaction_read_only=off";
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    List<Long> numbers(String database, String sql) {
        try (Connection connection = DriverManager.getConnection(url(database));
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            List<Long> numbers = new ArrayList<>();
            while (row.next()) {
                numbers.add(row.getLong(1));
            }
            return numbers;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    long number(String database, String sql) {
        return numbers(database, sql).getFirst();
    }

    @Override
    public void close() {
        stop(Stop.IMMEDIATE);
    }
}
