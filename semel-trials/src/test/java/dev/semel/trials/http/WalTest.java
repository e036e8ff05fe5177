package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The journal of a SQLite store is recycled while the server works; it does not grow until the disk is full. */
class WalTest {
    private static final String LARGE = "{\"data\": {\"a\": \"" + "x".repeat(1_000_000) + "\"}}";

    @TempDir
    Path folder;

    @Test
    void the_write_ahead_log_stays_limited_under_load() throws Exception {
        try (LiveServer server = LiveServer.first(StoreKind.SQLITE.fresh(folder), folder, _ -> {})) {
            server.admin().publish(flow("plain")).expect(200);
            long most = 0;
            for (int i = 0; i < 300; i++) {
                server.admin().unkeyed("plain", LARGE).expect(200);
                most = Math.max(most, Files.size(folder.resolve("semel.db-wal")));
            }
            assertTrue(most < 256L << 20, "the log grew to " + (most >> 20) + " MiB");
        }
    }
}
