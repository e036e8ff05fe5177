package dev.semel.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.server.cli.CommandEnvironment;
import dev.semel.server.cli.ServerOptions;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MainTest {
    @Test
    void the_exit_code_of_the_server_is_the_exit_code_of_the_process() {
        List<ServerOptions> asked = new ArrayList<>();
        StringWriter said = new StringWriter();
        CommandEnvironment around = new CommandEnvironment(
                Map.of(),
                InputStream.nullInputStream(),
                new PrintWriter(said),
                new PrintWriter(said),
                false,
                InstantSource.system(),
                _ -> {},
                Path.of(""));
        int exit = Main.run(
                around,
                options -> {
                    asked.add(options);
                    return 42;
                },
                "serve",
                "--port",
                "9999");
        assertEquals(42, exit, said.toString());
        assertEquals(9999, asked.getFirst().port());
    }
}
