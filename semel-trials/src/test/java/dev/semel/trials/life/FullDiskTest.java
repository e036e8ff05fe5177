package dev.semel.trials.life;

import static dev.semel.trials.support.SampleWorkflows.data;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PostgreSQL on a disk that is full for a while: rows and write-ahead log alike. The worker's process stays the same. */
@Tag("trial")
class FullDiskTest {
    private static final String FLOW = "payment_receipt";
    private static final int MOST_ROUNDS = 50;

    @TempDir
    Path folder;

    private @Nullable Path disk;
    private final Map<String, String> acknowledged = new LinkedHashMap<>();

    @BeforeEach
    void mount() throws Exception {
        assumeTrue(
                Files.getAttribute(folder, "unix:uid").equals(0),
                "Only root can mount the small disk that this trial fills; it ran nothing. Run it as root.");
        Path made = Files.createDirectory(folder.resolve("disk"));
        command("mount", "-t", "tmpfs", "-o", "size=200m,mode=755", "tmpfs", made.toString());
        disk = made;
    }

    @AfterEach
    void unmount() throws Exception {
        if (disk != null) {
            command("umount", "-l", disk.toString());
        }
    }

    @Test
    void a_full_postgresql_disk_is_survived_without_our_restart() throws Exception {
        Path full = Objects.requireNonNull(disk);
        Path filler = full.resolve("filler");
        try (OwnPostgres postgres = OwnPostgres.start(full)) {
            postgres.set("max_wal_size = '48MB'");
            postgres.execute("postgres", "CREATE DATABASE full_disk");
            try (ServerProcess server = ServerProcess.start(
                    Files.createDirectories(folder.resolve("data")), postgres.url("full_disk"), "dev", "--demo")) {
                ApiCaller caller = server.as("dev");
                trigger(caller, "before");
                HttpReply refused = null;
                for (int round = 0; refused == null && round < MOST_ROUNDS; round++) {
                    fill(filler);
                    for (int i = 0; refused == null && i < 100; i++) {
                        HttpReply reply = trigger(caller, "filling-" + round + "-" + i);
                        refused = reply.status() == 200 ? null : reply;
                    }
                }
                assertTrue(refused != null, "the disk never became full for a trigger");
                ProblemResponseChecks.expect(refused, 503, "store-unavailable");
                assertEquals(200, server.as("").get("/healthz").status(), "the process itself is well");
                Files.delete(filler);
                postgres.startAgain(); // it may have given up when its log could not grow; that is its operator's part
                ConcurrentCalls.until(
                        "ready again", () -> server.as("").get("/readyz").status() == 200);
                ConcurrentCalls.until(
                        "triggers are taken again",
                        () -> trigger(caller, "after").status() == 200);
                Map.copyOf(acknowledged)
                        .forEach((key, run) ->
                                assertEquals(run, trigger(caller, key).runId(), "the same key is the same run"));
                ConcurrentCalls.until(
                        "all runs that were acknowledged complete",
                        () -> postgres.number("full_disk", "SELECT count(*) FROM semel_unfinished_run") == 0);
                long ended = postgres.number("full_disk", "SELECT count(*) FROM semel_finished_run WHERE state = 10");
                assertTrue(ended >= acknowledged.size(), ended + " of " + acknowledged.size() + " completed");
            }
        }
    }

    private HttpReply trigger(ApiCaller caller, String key) {
        HttpReply reply = caller.trigger(FLOW, key, data(""));
        if (reply.status() == 200) {
            acknowledged.put(key, reply.runId());
        }
        return reply;
    }

    /** Writes until not one byte more fits. */
    private static void fill(Path filler) throws IOException {
        byte[] page = "x".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);
        try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            for (int size = page.length; size > 0; ) {
                try {
                    out.write(page, 0, size);
                } catch (IOException full) {
                    size /= 2;
                }
            }
        }
    }

    private static void command(String... words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError("This trial needs a small disk of its own, a tmpfs. \"" + String.join(" ", words)
                    + "\" said: " + said);
        }
    }
}
