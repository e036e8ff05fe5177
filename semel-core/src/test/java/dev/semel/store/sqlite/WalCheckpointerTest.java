package dev.semel.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Await;
import dev.semel.store.CommitBatch;
import dev.semel.store.SqliteStoreFixture;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The WAL neither grows without end nor keeps everything to itself until the store closes. */
final class WalCheckpointerTest {
    private static final String MEGABYTE = "x".repeat(1024 * 1024);
    private static final int LONGEST_TRY = 400;

    @Test
    void pages_move_into_the_file_while_the_store_is_open() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture();
                WorkflowStore store = fixture.store();
                WorkflowStore.BatchWriter lane = store.openLane()) {
            for (int i = 0; i < 4; i++) {
                publish(lane, i);
            }
            Await.until("the file holds the pages", () -> Files.size(fixture.file()) > 4 * 1024 * 1024);
        }
    }

    @Test
    void under_constant_writing_the_wal_restarts() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture();
                WorkflowStore store = fixture.store();
                WorkflowStore.BatchWriter lane = store.openLane()) {
            publish(lane, 0);
            int first = beginnings(fixture.file());
            int written = 1;
            while (written < LONGEST_TRY && beginnings(fixture.file()) == first) {
                publish(lane, written++);
            }
            assertTrue(written < LONGEST_TRY, "400 MiB lie in the WAL and none of it was recycled");
            publish(lane, written);
            assertEquals(written + 1, fixture.count("semel_workflow_version"));
        }
    }

    private static void publish(WorkflowStore.BatchWriter lane, int n) {
        var edit = new StoreWriteCommand.PublishVersion(1, "workflow", "wf_1", n + MEGABYTE, "tester");
        lane.apply(new CommitBatch(null, List.of(new StoreWrite.ExecuteCommand<>(edit))));
    }

    /** The file format counts in its header how often the WAL began anew. */
    private static int beginnings(Path file) throws IOException {
        try (FileChannel wal = FileChannel.open(Path.of(file + "-wal"))) {
            ByteBuffer number = ByteBuffer.allocate(4);
            wal.read(number, 12);
            return number.flip().getInt();
        }
    }
}
