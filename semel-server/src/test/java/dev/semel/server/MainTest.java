package dev.semel.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.server.ServerOptions;
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
        List<ServerOptions> serverOptions = new ArrayList<>();
        StringWriter said = new StringWriter();
        CliCommandEnvironment environment = new CliCommandEnvironment(
                Map.of(),
                InputStream.nullInputStream(),
                new PrintWriter(said),
                new PrintWriter(said),
                false,
                InstantSource.system(),
                _ -> {},
                Path.of(""));
        int exit = Main.run(
                environment,
                options -> {
                    serverOptions.add(options);
                    return 42;
                },
                "serve",
                "--port",
                "9999");
        assertEquals(42, exit, said.toString());
        assertEquals(9999, serverOptions.getFirst().port());
    }
}
