package dev.semel.trials.chaos;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real PostgreSQL, as durable as in production, that can be killed with all its processes and started again. */
final class KillablePostgres implements AutoCloseable {
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");
    private static final Duration LONGEST_START = Duration.ofSeconds(60);

    private final Path folder;
    private final EmbeddedPostgres first;
    private final AtomicInteger databases = new AtomicInteger();
    private final List<String> command;

    KillablePostgres(Path folder) throws IOException {
        this.folder = folder;
        // The embedded server is made for speed: it would neither sync nor wait for the WAL. What is not waited for
        // stays in memory for long, so that a commit which only claims to be durable is found out.
        this.first = EmbeddedPostgres.builder()
                .setDataDirectory(folder.resolve("postgres"))
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("wal_sync_method", "fdatasync")
                .setServerConfig("wal_writer_delay", "5s")
                .setServerConfig("max_connections", "200")
                .start();
        this.command = command();
    }

    /** How the server was started, by its own note; it does not run as root, which a name space of its own hides. */
    private List<String> command() throws IOException {
        String options = Files.readString(folder.resolve("postgres/postmaster.opts"), StandardCharsets.UTF_8);
        List<String> words = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            words.addAll(List.of("unshare", "-U"));
        }
        Matcher matcher = WORD.matcher(options.strip());
        while (matcher.find()) {
            words.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
        }
        return words;
    }

    String newDatabase() {
        String name = "chaos_" + databases.incrementAndGet();
        execute(url("postgres"), "CREATE DATABASE " + name);
        return url(name);
    }

    private String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + first.getPort() + "/" + database
                + "?user=postgres&sslmode=disable&connectTimeout=5&tcpKeepAlive=true";
    }

    static void execute(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** SIGKILL to the server and all its processes at once: what was not on disk is gone. */
    void kill() {
        ProcessHandle postmaster = ProcessHandle.of(pid()).orElseThrow();
        List<ProcessHandle> all = new ArrayList<>(List.of(postmaster));
        postmaster.descendants().forEach(all::add);
        all.forEach(ProcessHandle::destroyForcibly);
        long deadline = System.nanoTime() + LONGEST_START.toNanos();
        while (all.stream().anyMatch(KillablePostgres::runs) && System.nanoTime() < deadline) {
            breathe();
        }
    }

    /** A process that is dead and not yet waited for does not run any more. */
    private static boolean runs(ProcessHandle process) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            return !stat.substring(stat.lastIndexOf(')')).startsWith(") Z");
        } catch (IOException e) {
            return false;
        }
    }

    private long pid() {
        try {
            return Long.parseLong(Files.readAllLines(folder.resolve("postgres/postmaster.pid"))
                    .getFirst());
        } catch (IOException e) {
            throw new AssertionError("the server has no pid", e);
        }
    }

    /** Starts it again and waits until it answers. */
    void restart() {
        long deadline = System.nanoTime() + LONGEST_START.toNanos();
        Process process = launch();
        while (!answers()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("PostgreSQL did not come back: see " + folder.resolve("postgres.log"));
            }
            if (!process.isAlive()) {
                process = launch();
            }
            breathe();
        }
    }

    private Process launch() {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("postgres.log").toFile()))
                    .start();
        } catch (IOException e) {
            throw new AssertionError("PostgreSQL did not start again", e);
        }
    }

    private boolean answers() {
        try (Connection connection = DriverManager.getConnection(url("postgres"));
                Statement statement = connection.createStatement()) {
            return statement.execute("SELECT 1");
        } catch (SQLException e) {
            return false;
        }
    }

    private static void breathe() {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }

    @Override
    public void close() throws IOException {
        try {
            first.close();
        } finally {
            if (Files.exists(folder.resolve("postgres/postmaster.pid"))) {
                kill(); // a busy machine did not let it stop in good time
            }
        }
    }
}
