package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.Main;
import dev.semel.trials.support.JavaProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `semel demo crash` as people run it. */
@Tag("trial")
class DemoCrashTest {
    private static final long PATIENCE_SECONDS = 120;

    @TempDir
    Path folder = Path.of("");

    @Test
    void a_server_killed_after_the_effect_calls_twice_and_does_it_once() throws Exception {
        Path said = folder.resolve("said");
        ProcessBuilder builder = JavaProcess.small(folder, Main.class, "demo", "crash")
                .redirectErrorStream(true)
                .redirectOutput(said.toFile());
        builder.environment().put("SEMEL_STORE", "jdbc:postgresql://nowhere.invalid/"); // is not for the child
        Process demo = builder.start();
        try {
            assertTrue(demo.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "it did not end");
        } finally {
            demo.destroy(); // and its own child with it
        }
        List<String> lines = Files.readAllLines(said, StandardCharsets.UTF_8);
        assertEquals(0, demo.exitValue(), lines::toString);
        assertEquals("2 calls, 1 effect", lines.getLast(), lines::toString);
        assertTrue(lines.stream().anyMatch(line -> line.endsWith(": 1 call, 1 effect")), lines::toString);
        assertTrue(lines.get(lines.size() - 2).startsWith("run       completed, license LIC-"), lines::toString);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(said), left.toList());
        }
    }
}
