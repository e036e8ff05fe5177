package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.SampleWorkflows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder of files beside decisions that people made about what is in it. */
class FolderRollbackTest {
    @TempDir
    Path folder = Path.of("");

    @Test
    void a_restart_with_the_same_file_does_not_undo_a_rollback_and_a_changed_file_is_published() throws IOException {
        Path files = Files.createDirectory(folder.resolve("workflows"));
        Path file = files.resolve("turned.yaml");
        Files.writeString(file, SampleWorkflows.flow("turned"));
        assertEquals(1, started(files, ""));
        Files.writeString(file, SampleWorkflows.flow("turned", "title: Two"));
        assertEquals(3, started(files, "{\"version\": 1, \"reason\": \"tax\"}"), "2 from the file, then back to 1");
        assertEquals(3, started(files, ""), "the same file says nothing new");
        Files.writeString(file, SampleWorkflows.flow("turned", "title: Three"));
        assertEquals(4, started(files, ""));
    }

    /** Starts a server on the folder, goes back where a body says to which version, and answers the current version. */
    private int started(Path files, String back) {
        String store = "sqlite:" + folder.resolve("semel.db");
        SemelServer serve = SemelServer.start(new ServerOptions(true, false, "127.0.0.1", 0, folder, store, files));
        try {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            if (!back.isEmpty()) {
                caller.post("/v1/workflows/turned/rollback", back).expect(200);
            }
            return caller.get("/v1/workflows/turned")
                    .expect(200)
                    .json()
                    .get("version")
                    .asInt();
        } finally {
            serve.close();
        }
    }
}
