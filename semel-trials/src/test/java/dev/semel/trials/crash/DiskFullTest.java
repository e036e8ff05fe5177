package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQLite on a disk that is full for a while. */
@Tag("trial")
class DiskFullTest {
    private static final int PROBES = 40;

    @TempDir
    Path folder;

    private Path disk;
    private final ClientLedger ledger = new ClientLedger();

    @BeforeEach
    void mount() throws Exception {
        Object user = Files.getAttribute(folder, "unix:uid");
        assumeTrue(
                user.equals(0),
                "Only root can mount the small disk that this trial fills; it ran nothing. Run it as root.");
        disk = Files.createDirectory(folder.resolve("disk"));
        run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        if (disk == null) {
            return;
        }
        run("umount", disk.toString());
    }

    @Test
    void a_full_disk_acknowledges_nothing_unsaved_and_recovers_automatically() throws IOException {
        ProcessServer.Start how = new ProcessServer.Start(folder, "sqlite:" + disk.resolve("semel.db"));
        LoadClients crowd = new LoadClients(ledger, "disk", 8, Seed.forTrial("disk full"));
        Path filler = disk.resolve("filler");
        try (ProcessServer server = ProcessServer.start(how);
                KeepAliveClient caller = new KeepAliveClient(server.port())) {
            crowd.start(server.port());
            Await.holds("it works", () -> ledger.acknowledged() >= 100);
            crowd.stop();
            fill(filler);
            Await.holds("the disk is full for a trigger too", () -> {
                String key = "filling-" + ledger.calls().size();
                boolean refused = send(caller, key) instanceof ClientCall.Rejected;
                fill(filler);
                return refused;
            });
            whileFull(server.port());
            Files.delete(filler);
            Await.holds("service resumes without a restart", () -> send(caller, "resumed") instanceof ClientCall.Ok);
            crowd.settle(ledger.keys(), server.port());
            server.awaitCompleted(ledger.runs());
            // Not stopped but killed: what was acknowledged must be in the file already.
            server.kill();
            ledger.killed();
        }
        ClientHistoryChecks.holds(ledger, StoredRuns.sqlite(disk.resolve("semel.db"), folder));
    }

    private void whileFull(int port) throws IOException {
        LoadClients probes = new LoadClients(ledger, "full", PROBES, new Seed(0));
        int before = ledger.acknowledged();
        int refusedBefore = ledger.uncertain();
        probes.once(port);
        probes.join();
        assertEquals(before, ledger.acknowledged(), "a trigger was acknowledged while the disk was full");
        assertEquals(refusedBefore + PROBES, ledger.uncertain());
        assertTrue(ledger.calls().stream()
                .allMatch(call -> !(call.outcome() instanceof ClientCall.Rejected no) || no.status() == 503));
    }

    private ClientCall.Outcome send(KeepAliveClient caller, String key) {
        return ledger.record(key, () -> caller.trigger(key, LoadClients.body(key)));
    }

    /** Writes until not one byte more fits. */
    private static void fill(Path filler) throws IOException {
        byte[] page = "x".repeat(4096).getBytes(StandardCharsets.US_ASCII);
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

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError("This trial needs a small disk of its own, a tmpfs. \"" + String.join(" ", command)
                    + "\" said: " + said);
        }
    }
}
