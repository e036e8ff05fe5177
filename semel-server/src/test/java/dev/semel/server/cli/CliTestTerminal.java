package dev.semel.server.cli;

import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.server.ServerOptions;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Someone at a terminal: environment, folder, a clock that moves only while a command waits. */
final class CliTestTerminal {
    record CommandResult(int exit, String out, String err) {
        /** Stdout must be exactly one JSON document. */
        JsonNode json() {
            return TerminalJsonFormatter.parse(out);
        }
    }

    final Map<String, String> environment = new HashMap<>();
    final List<Duration> pauses = new ArrayList<>();
    final List<ServerOptions> served = new ArrayList<>();
    Path folder = Path.of("").toAbsolutePath();
    String stdin = "";
    boolean terminal;
    Instant now = Instant.parse("2026-11-15T09:12:04Z");

    CliTestTerminal() {}

    CliTestTerminal(ScriptedServer server) {
        environment.put("SEMEL_SERVER", server.address());
    }

    CommandResult run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CliCommandEnvironment around = new CliCommandEnvironment(
                environment,
                new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8)),
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                terminal,
                () -> now,
                pause -> {
                    pauses.add(pause);
                    now = now.plus(pause);
                },
                folder);
        int exit = CliRootCommand.commandLine(around, options -> {
                    served.add(options);
                    return 0;
                })
                .execute(arguments);
        return new CommandResult(exit, out.toString(), err.toString());
    }
}
