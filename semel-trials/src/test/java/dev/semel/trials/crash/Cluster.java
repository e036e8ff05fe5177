package dev.semel.trials.crash;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;

/**
 * A PostgreSQL with a streaming replica, both with fsync. The replica begins as a copy of the files of the primary,
 * made while that one was stopped: the binaries at hand have no tool for a copy of a running one.
 */
final class Cluster implements AutoCloseable {
    static final String DATABASE = "failover";
    private static final String REPLICA = "replica";

    private final boolean synchronous;
    private final Path primaryFiles;
    private final int primaryPort;
    private final int replicaPort;
    private final ReplicaWire wire;
    private final EmbeddedPostgres replica;
    private boolean killed;

    private Cluster(Path folder, boolean synchronous) throws IOException {
        this.synchronous = synchronous;
        this.primaryFiles = folder.resolve("primary");
        Path replicaFiles = folder.resolve(REPLICA);
        this.primaryPort = freePort();
        this.replicaPort = freePort();
        this.wire = new ReplicaWire(primaryPort);
        EmbeddedPostgres first = server(primaryFiles, primaryPort).start();
        RealPostgres.execute(url("postgres", primaryPort), "CREATE DATABASE " + DATABASE);
        first.close();
        copy(primaryFiles, replicaFiles);
        Files.createFile(replicaFiles.resolve("standby.signal"));
        Files.writeString(
                replicaFiles.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=" + wire.port() + " user=postgres application_name=" + REPLICA
                        + "'\n",
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        var again = server(primaryFiles, primaryPort);
        if (synchronous) {
            again.setServerConfig("synchronous_standby_names", REPLICA);
        }
        again.start();
        this.replica = server(replicaFiles, replicaPort).start();
        String state = synchronous ? "sync" : "async";
        Await.holds(
                "the replica follows",
                () -> primaryNumber("SELECT count(*) FROM pg_stat_replication WHERE "
                                + "state = 'streaming' AND sync_state = '" + state + "'")
                        == 1);
    }

    static Cluster start(Path folder, boolean synchronous) {
        try {
            return new Cluster(folder, synchronous);
        } catch (IOException e) {
            throw new AssertionError("the cluster did not start", e);
        }
    }

    private static EmbeddedPostgres.Builder server(Path files, int port) {
        return EmbeddedPostgres.builder()
                .setDataDirectory(files)
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(true)
                .setPort(port)
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("wal_sync_method", "fdatasync")
                .setServerConfig("wal_level", REPLICA)
                .setServerConfig("max_wal_senders", "4")
                .setServerConfig("hot_standby", "on")
                .setServerConfig("max_connections", "100");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                Files.copy(folder, to.resolve(from.relativize(folder)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!file.getFileName().toString().startsWith("epg-lock")) {
                    Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static String url(String database, int port) {
        return RealPostgres.url(database, port);
    }

    /** Both servers; the driver takes the one that is primary. */
    String url() {
        return "jdbc:postgresql://127.0.0.1:" + primaryPort + ",127.0.0.1:" + replicaPort + "/" + DATABASE
                + "?user=postgres&sslmode=disable&targetServerType=primary";
    }

    /** The replica, which is the primary after {@link #failOver}. */
    String replicaUrl() {
        return url(DATABASE, replicaPort);
    }

    long primaryNumber(String sql) {
        return RealPostgres.number(url(DATABASE, primaryPort), sql);
    }

    /** From now on nothing reaches the replica. */
    void stallReplication() {
        wire.stall();
    }

    /** Waits until commits are on the primary's disk and wait for the replica. */
    void awaitCommitsThatWait() {
        if (synchronous) {
            Await.holds(
                    "a commit waits for the replica",
                    () -> primaryNumber("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") > 0);
        }
    }

    /** SIGKILL to the primary and all its processes, then the replica is made primary. */
    void failOver() {
        kill();
        wire.close();
        if (RealPostgres.number(replicaUrl(), "SELECT CASE WHEN pg_promote(true, 60) THEN 1 ELSE 0 END") != 1) {
            throw new AssertionError("the replica was not made primary");
        }
    }

    private void kill() {
        try {
            List<String> lines = Files.readAllLines(primaryFiles.resolve("postmaster.pid"), StandardCharsets.UTF_8);
            ProcessHandle postmaster = ProcessHandle.of(
                            Long.parseLong(lines.getFirst().strip()))
                    .orElseThrow(() -> new AssertionError("the primary is not there"));
            List<ProcessHandle> all = Stream.concat(Stream.of(postmaster), postmaster.descendants())
                    .toList();
            all.forEach(ProcessHandle::destroyForcibly);
            Await.holds("the primary is gone", () -> all.stream().noneMatch(ProcessHandle::isAlive));
            killed = true;
        } catch (IOException e) {
            throw new AssertionError("the primary's number cannot be read", e);
        }
    }

    @Override
    public void close() {
        wire.close();
        if (!killed) {
            kill();
        }
        try {
            replica.close();
        } catch (IOException e) {
            throw new AssertionError("the replica did not stop", e);
        }
    }
}
