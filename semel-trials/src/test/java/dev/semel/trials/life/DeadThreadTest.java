package dev.semel.trials.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.JavaProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server without one of its essential threads answers triggers and never executes them: it must not stay. */
class DeadThreadTest {
    private static final int MOST_LOOKS = 20_000;

    @TempDir
    Path folder;

    @Test
    void healthz_reports_a_dead_thread() {
        DeadThreadChild.FailingThread victim = new DeadThreadChild.FailingThread();
        ServerOptions options =
                new ServerOptions(true, false, "127.0.0.1", 0, folder, "sqlite:" + folder.resolve("semel.db"), null);
        try (SemelServer serve = SemelServer.start(options, victim.ambient())) {
            ApiCaller caller = new ApiCaller(serve.port(), "", _ -> {});
            caller.get("/healthz").expect(200);
            victim.fail("semel-dispatch");
            HttpReply reply = caller.get("/healthz");
            for (int looks = 0; reply.status() == 200 && looks < MOST_LOOKS; looks++) {
                reply = caller.get("/healthz");
            }
            reply.expect(503);
            assertTrue(reply.text("detail").contains("semel-dispatch"), reply.text("detail"));
            caller.get("/readyz").expect(503);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"semel-dispatch", "semel-lease"})
    void the_server_process_ends_when_an_essential_thread_dies(String thread) throws Exception {
        Path log = folder.resolve("log");
        Process process = JavaProcess.of(List.of(), DeadThreadChild.class.getName(), List.of(folder.toString(), thread))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertTrue(process.waitFor(2, TimeUnit.MINUTES), () -> "it still runs: " + read(log));
            assertEquals(1, process.exitValue(), () -> read(log));
            assertTrue(read(log).contains("thread " + thread + " died, so the server stops"), () -> read(log));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
