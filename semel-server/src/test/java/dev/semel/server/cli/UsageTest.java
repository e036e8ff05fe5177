package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.ShellQuoting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class UsageTest {
    private final CliTestTerminal client = new CliTestTerminal();

    @Test
    void semel_alone_prints_eight_lines_of_examples() {
        var result = client.run();
        assertEquals(0, result.exit());
        assertEquals(8, result.out().lines().count());
        assertTrue(result.out().lines().allMatch(line -> line.startsWith("semel ")));
    }

    @ParameterizedTest
    @CsvSource({"sned,send", "rusn,runs", "keey,key", "docter,doctor"})
    void a_mistyped_command_gets_a_suggestion(String typed, String meant) {
        var result = client.run(typed);
        assertEquals(2, result.exit());
        assertTrue(result.err().contains("did you mean: " + meant), result.err());
    }

    @Test
    void a_mistyped_option_gets_a_suggestion_and_never_the_hidden_one() {
        assertTrue(client.run("runs", "--limti", "3").err().contains("did you mean: --limit"));
        assertFalse(client.run("runs", "--tokne", "x").err().contains("did you mean: --token\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dev",
                "serve",
                "send",
                "event",
                "runs",
                "run",
                "request",
                "key",
                "workflow",
                "publish",
                "token",
                "doctor",
                "login",
                "completion"
            })
    void every_command_has_help(String command) {
        assertTrue(client.run(command, "-h").out().startsWith("Usage: semel " + command));
        assertTrue(client.run("help", command).out().startsWith("Usage: semel " + command));
    }

    @Test
    void help_lists_every_command_once_in_its_group_and_within_80_columns() {
        String help = client.run("--help").out();
        help.lines().forEach(line -> assertTrue(line.length() <= 80, line));
        for (String group : List.of(
                "Everyday:", "Workflows:", "Runs and keys:", "Recovery:", "Triggers:", "Settings:", "Server:")) {
            assertTrue(help.lines().anyMatch(group::equals), group);
        }
        for (String name : root().getSubcommands().keySet()) {
            long lines = help.lines()
                    .filter(line -> line.startsWith("  " + name + " "))
                    .count();
            assertEquals(name.equals("help") ? 0 : 1, lines, name);
        }
    }

    @Test
    void every_command_that_prints_data_takes_json() {
        Set<String> servers = Set.of("semel dev", "semel serve", "semel help");
        leaves(root())
                .filter(leaf -> !servers.contains(leaf.getCommandSpec().qualifiedName()))
                .forEach(leaf -> {
                    String name = leaf.getCommandSpec().qualifiedName();
                    assertNotNull(leaf.getCommandSpec().findOption("--json"), name);
                    assertTrue(
                            client.run((name.substring("semel ".length()) + " -h").split(" "))
                                    .out()
                                    .startsWith("Usage: " + name),
                            name);
                });
    }

    private static CommandLine root() {
        return CliRootCommand.commandLine(CliCommandEnvironment.system(), _ -> 0);
    }

    private static Stream<CommandLine> leaves(CommandLine command) {
        return command.getSubcommands().isEmpty()
                ? Stream.of(command)
                : command.getSubcommands().values().stream().flatMap(UsageTest::leaves);
    }

    @Test
    void a_resource_without_a_verb_lists_its_verbs() {
        var result = client.run("token");
        assertEquals(2, result.exit());
        assertTrue(result.err().contains("Missing verb: semel token create|list|revoke."), result.err());
        assertTrue(client.run("token", "lsit").err().contains("did you mean: list"));
    }

    @Test
    void completion_knows_the_verbs() {
        String script = client.run("completion").out();
        assertTrue(
                script.startsWith("#!/usr/bin/env bash"),
                script.lines().findFirst().orElse(""));
        assertTrue(script.contains("timeline"));
    }

    @Test
    void a_login_is_used_for_its_server_alone_until_it_is_forgotten(@TempDir Path home) throws IOException {
        try (ScriptedServer server = new ScriptedServer()) {
            server.on("GET /v1/workflows", json(200, "{\"items\":[],\"next\":null}"));
            client.environment.put("HOME", home.toString());
            client.stdin = "tok_secret\n";
            var login = client.run("login", "--server", server.address());
            assertEquals(0, login.exit(), login.err());
            assertFalse((login.out() + login.err()).contains("tok_secret"));
            Path file = home.resolve(".config/semel/login.json");
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals(0, client.run("workflow", "list").exit());
            assertEquals("Bearer tok_secret", server.seen.get(1).header("Authorization"));
            assertEquals(
                    7,
                    client.run("runs", "--server", "https://semel.example.com").exit());
            assertEquals(0, client.run("login", "--forget").exit());
            assertFalse(Files.exists(file));
        }
    }

    @Test
    void a_token_that_the_server_does_not_know_is_not_saved(@TempDir Path home) throws IOException {
        try (ScriptedServer server = new ScriptedServer()) {
            server.on("GET /v1/workflows", json(401, "{\"title\":\"no\",\"code\":\"unauthenticated\"}"));
            client.environment.put("HOME", home.toString());
            client.stdin = "wrong";
            assertEquals(7, client.run("login", "--server", server.address()).exit());
            assertFalse(Files.exists(home.resolve(".config/semel/login.json")));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--token=s3cret", "--token s3cret", "--token"})
    void a_token_as_an_argument_is_rejected_and_not_repeated(String words) {
        var result = client.run(("runs " + words).split(" "));
        assertEquals(2, result.exit());
        assertTrue(result.err().contains("never an argument"), result.err());
        assertFalse(result.err().contains("s3cret"), result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:8085", "ftp://x", "http://u:p@127.0.0.1:1", "http://127.0.0.1?x=1", "http:// x"})
    void an_invalid_server_url_is_wrong_usage(String address) {
        assertEquals(2, client.run("runs", "--server", address).exit());
    }

    @Test
    void the_dev_token_never_leaves_this_machine() {
        var result = client.run("runs", "--server", "https://semel.example.com", "--json");
        assertEquals(7, result.exit());
        assertEquals("no-token", result.json().path("code").asString());
    }

    @Test
    void flags_win_over_the_environment(@TempDir Path folder) throws IOException {
        try (ScriptedServer server = new ScriptedServer()) {
            server.on("GET /v1/runs", json(200, "{\"items\":[],\"next\":null}"));
            client.folder = folder;
            client.environment.put("SEMEL_SERVER", "http://127.0.0.1:1");
            client.environment.put("SEMEL_TOKEN", "from_env");
            Files.writeString(folder.resolve("token"), "from_file\n");
            assertEquals(
                    0, client.run("runs", "--server", server.address() + "/").exit());
            assertEquals(
                    0,
                    client.run("runs", "--server", server.address(), "--token-file", "token")
                            .exit());
            assertEquals("Bearer from_env", server.seen.get(0).header("Authorization"));
            assertEquals("Bearer from_file", server.seen.get(1).header("Authorization"));
            assertEquals(
                    2,
                    client.run("runs", "--server", server.address(), "--token-file", "missing")
                            .exit());
        }
    }

    @Test
    void dev_is_loopback_with_sqlite_in_the_data_folder(@TempDir Path folder) throws IOException {
        client.folder = folder;
        assertEquals(0, client.run("dev", "--demo").exit());
        var options = client.served.getFirst();
        assertTrue(options.dev() && options.demo());
        assertEquals("127.0.0.1", options.host());
        assertEquals(8085, options.port());
        assertEquals(folder.resolve(".semel"), options.data());
        assertEquals("sqlite:" + folder.resolve(".semel/semel.db"), options.store());
        assertNull(options.workflows());
        Files.createDirectory(folder.resolve("workflows"));
        client.run("dev");
        assertEquals(folder.resolve("workflows"), client.served.getLast().workflows());
    }

    @Test
    void serve_reads_flags_then_environment() {
        client.environment.put("SEMEL_STORE", "jdbc:postgresql://db/semel?password=x");
        client.environment.put("SEMEL_PORT", "9000");
        assertEquals(0, client.run("serve", "--host", "0.0.0.0").exit());
        var options = client.served.getFirst();
        assertFalse(options.dev());
        assertEquals("0.0.0.0", options.host());
        assertEquals(9000, options.port());
        assertEquals("jdbc:postgresql://db/semel?password=x", options.store());
        assertEquals(
                0, client.run("serve", "--port", "0", "--store", "sqlite:x.db").exit());
        assertEquals(0, client.served.getLast().port());
        assertEquals("127.0.0.1", client.served.getLast().host());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "serve --store jdbc:postgresql://db/x?password=s3cret",
                "serve --store jdbc:postgresql://u:s3cret@db/x",
                "serve --store mysql:s3cret",
                "serve --port 70000",
                "dev --port -1",
                "dev --host 0.0.0.0",
                "dev --workflows ./nowhere"
            })
    void invalid_server_options_do_not_start_a_server(String words) {
        var result = client.run(words.split(" "));
        assertEquals(2, result.exit(), result.err());
        assertTrue(client.served.isEmpty());
        assertFalse(result.err().contains("s3cret"), result.err());
    }

    @Test
    void a_non_numeric_port_in_the_environment_is_wrong_usage() {
        client.environment.put("SEMEL_PORT", "http");
        assertEquals(2, client.run("serve").exit());
    }

    @ParameterizedTest
    @CsvSource({"PT0.85S,850 ms", "PT48S,48 s", "PT3M12S,3 m 12 s", "PT23H57M3S,23 h 57 m", "PT147H,6 d 3 h", "PT1H,1 h"
    })
    void durations_are_parsed_as_users_write_them(Duration span, String said) {
        assertEquals(said, CliDurationFormatter.format(span));
    }

    @Test
    void a_time_is_shown_relative_to_now() {
        Instant now = Instant.parse("2026-11-15T09:12:04Z");
        assertEquals("just now", CliDurationFormatter.formatRelative(now, now));
        assertEquals("5 m ago", CliDurationFormatter.formatRelative(now.minusSeconds(300), now));
        assertEquals("in 5 m", CliDurationFormatter.formatRelative(now.plusSeconds(300), now));
    }

    @Test
    void a_suggested_command_works_when_pasted() {
        assertEquals("evt_1", ShellQuoting.quote("evt_1"));
        assertEquals("'$(rm -rf ~)'", ShellQuoting.quote("$(rm -rf ~)"));
        assertEquals("'it'\\''s'", ShellQuoting.quote("it's"));
        assertEquals("''", ShellQuoting.quote(""));
    }
}
