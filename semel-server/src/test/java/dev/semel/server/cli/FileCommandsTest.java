package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.workflow.WorkflowScaffoldCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands about workflow files and their versions. */
class FileCommandsTest {
    private static final String FINE = "semel: 1\nworkflow: %s\nowner: o\nsteps:\n  - {id: note, set: {ok: true}}\n";

    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open(@TempDir Path folder) throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
        client.folder = folder;
    }

    @AfterEach
    void close() {
        server.close();
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(client.folder.resolve(name), text);
    }

    @Test
    void a_check_needs_no_server_and_lists_protections() throws IOException {
        write("a.yaml", FINE.formatted("alpha"));
        write(
                "b.yaml",
                "semel: 1\nworkflow: beta\nowner: o\nsteps:\n  - {id: row, tx: {sql: delete from t}}\n"
                        + "  - {id: call, workflow: alpha}\n");
        var result = client.run("check", ".");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("alpha"), result.out());
        assertTrue(result.out().contains("2 steps  1 tx, 1 child by key  ok"), result.out());
        assertTrue(result.err().contains("0 files rejected, 0 warnings"), result.err());
        assertEquals(List.of(), server.seen);
    }

    @Test
    void a_bad_file_is_shown_with_a_caret_and_does_not_stop_the_others() throws IOException {
        write("a.yaml", "semel: 1\nworkflow: alpha\nsteps:\n  - {id: note, sett: {ok: true}}\n");
        write("b.yaml", FINE.formatted("beta"));
        var result = client.run("check", "a.yaml", "b.yaml");
        assertEquals(1, result.exit());
        assertTrue(result.err().contains("^"), result.err());
        assertTrue(result.err().contains("line 4, column"), result.err());
        assertTrue(result.out().contains("rejected"), result.out());
        assertTrue(result.out().contains("ok"), result.out());
        var document = client.run("check", "a.yaml", "--json").json();
        assertFalse(document.at("/items/0/ok").asBoolean());
        assertEquals(4, document.at("/items/0/problem/errors/0/line").asInt());
    }

    @Test
    void all_mistakes_of_a_file_are_listed_with_their_positions() throws IOException {
        write("a.yaml", "semel: 1\nworkflow: alpha\ntitel: x\nsteps:\n  - {id: note, set: '${ lowr(input.a) }'}\n");
        var result = client.run("check", "a.yaml");
        assertEquals(1, result.exit());
        assertTrue(result.err().contains("line 3:1  'titel' is not a field"), result.err());
        assertTrue(result.err().contains("line 5:25  there is no function lowr()"), result.err());
    }

    @Test
    void call_cycles_and_duplicate_names_among_the_files_are_rejected() throws IOException {
        write("a.yaml", "semel: 1\nworkflow: a\nowner: o\nsteps: [{id: call, workflow: b}]\n");
        write("b.yaml", "semel: 1\nworkflow: b\nowner: o\nsteps: [{id: call, workflow: a}]\n");
        var circle = client.run("check", ".");
        assertEquals(1, circle.exit());
        assertTrue(circle.err().contains("a → b → a"), circle.err());
        write("b.yaml", FINE.formatted("a"));
        assertTrue(client.run("check", ".").err().contains("is also in"));
    }

    @Test
    void a_warning_is_an_error_only_on_request() throws IOException {
        write("a.yaml", FINE.formatted("alpha").replace("owner: o\n", ""));
        var result = client.run("check", "a.yaml");
        assertEquals(0, result.exit());
        assertTrue(result.err().contains("no owner"), result.err());
        assertEquals(1, client.run("check", "--strict", "a.yaml").exit());
    }

    @Test
    void the_six_questions_are_answered_for_the_trigger_and_each_effect() throws IOException {
        write(
                "a.yaml",
                "semel: 1\nworkflow: alpha\nowner: o\nidempotency: {window: 7d}\nsteps:\n"
                        + "  - {id: row, tx: {sql: delete from t}}\n");
        String out = client.run("check", "--explain", "a.yaml").out();
        assertTrue(out.contains("alpha › trigger"), out);
        assertTrue(out.contains("7d from the first request"), out);
        assertTrue(out.contains("alpha › row: "), out);
        assertTrue(out.contains("commits the changes of the step together"), out);
        assertEquals(2, out.split("6 How long does Semel remember it\\?").length - 1, out);
        var document = client.run("check", "--explain", "--json", "a.yaml").json();
        assertEquals(6, document.at("/items/0/explained/1/answers").size());
    }

    @Test
    void a_named_server_is_queried_as_well() throws IOException {
        write("a.yaml", FINE.formatted("alpha"));
        server.on("PUT /v1/workflows/alpha", json(200, "{}"), problem(400, "invalid-definition", false));
        assertEquals(
                0, client.run("check", "--server", server.address(), "a.yaml").exit());
        assertTrue(server.seen.getFirst().target().endsWith("dry_run=true"));
        assertEquals(
                1, client.run("check", "--server", server.address(), "a.yaml").exit());
    }

    @Test
    void a_file_created_by_new_passes_the_check() throws IOException {
        assertEquals("mail.yaml\n", client.run("workflow", "new", "mail").out());
        for (String example : WorkflowScaffoldCommand.EXAMPLES) {
            boolean there = WorkflowScaffoldCommand.class.getResource("/examples/" + example + ".yaml") != null;
            assertEquals(
                    there ? 0 : 2,
                    client.run("workflow", "new", "my_" + example, "--from", example)
                            .exit());
        }
        assertTrue(Files.readString(client.folder.resolve("my_payment_receipt.yaml"))
                .contains("workflow: my_payment_receipt\n"));
        var check = client.run("check", ".");
        assertEquals(0, check.exit(), check.err());
    }

    @Test
    void new_overwrites_nothing_and_rejects_invalid_names() throws IOException {
        write("mail.yaml", "mine");
        var result = client.run("workflow", "new", "mail");
        assertEquals(1, result.exit());
        assertEquals("mine", Files.readString(client.folder.resolve("mail.yaml")));
        assertEquals(2, client.run("workflow", "new", "Mail").exit());
        assertEquals(
                2,
                client.run("workflow", "new", "mail2", "--from", "../../etc/passwd")
                        .exit());
        Files.createDirectory(client.folder.resolve("workflows"));
        assertEquals(
                "workflows/mail.yaml\n", client.run("workflow", "new", "mail").out());
    }

    @Test
    void versions_rollouts_and_changes_are_shown_in_one_line() throws IOException {
        write("a.yaml", FINE.formatted("alpha"));
        String candidate =
                "{\"workflow\":\"alpha\",\"version\":3,\"changed\":true,\"candidate\":{\"version\":4,\"percentage\":10}}";
        server.on("PUT /v1/workflows/alpha", json(200, candidate));
        assertEquals(
                "alpha v4 published for 10 % of the triggers\n",
                client.run("publish", "--percent", "10", "a.yaml").out());
        assertTrue(server.seen.getFirst().target().endsWith("?percentage=10"));
        client.run("publish", "--over", "3", "a.yaml");
        assertEquals("\"3\"", server.seen.getLast().header("If-Match"));
        client.run("publish", "--over", "0", "a.yaml");
        assertEquals("*", server.seen.getLast().header("If-None-Match"));
        String turned = "{\"workflow\":\"alpha\",\"version\":4,\"changed\":true,\"candidate\":null}";
        server.on("POST /v1/workflows/alpha/promote", json(200, turned));
        assertEquals(
                "alpha v4 now gets all triggers\n",
                client.run("workflow", "promote", "alpha").out());
        server.on("POST /v1/workflows/alpha/rollback", json(200, turned));
        client.run("workflow", "rollback", "alpha", "--to", "3", "--reason", "tax");
        assertEquals("{\"version\":3,\"reason\":\"tax\"}", server.seen.getLast().body());
        server.on("POST /v1/workflows/alpha/pause", json(200, "{\"workflow\":\"alpha\"}"));
        assertEquals(
                "alpha is paused; new runs queue\n",
                client.run("workflow", "pause", "alpha").out());
        server.on("POST /v1/workflows/alpha/resume", json(200, "{\"workflow\":\"alpha\"}"));
        assertEquals(0, client.run("workflow", "resume", "alpha").exit());
        server.on(
                "GET /v1/workflows/alpha/versions",
                json(
                        200,
                        "{\"items\":[{\"version\":4,\"role\":\"current\",\"percentage\":100,"
                                + "\"published_at\":\"2026-11-15T09:12:04Z\",\"actor_id\":\"tok_1\"}],\"next\":null}"));
        assertTrue(client.run("workflow", "versions", "alpha").out().contains("4        current  100 %"));
    }

    @Test
    void a_file_is_compared_with_the_published_version() throws IOException {
        write("a.yaml", FINE.formatted("alpha") + "idempotency: {window: 2d}\n");
        String published = TerminalJsonFormatter.compact(
                TerminalJsonFormatter.newObject().put("definition", FINE.formatted("alpha")));
        server.on("GET /v1/workflows/alpha", json(200, published));
        var result = client.run("workflow", "diff", "a.yaml");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("+idempotency: {window: 2d}"), result.out());
        assertTrue(result.err().contains("idempotency.window: 1d → 2d"), result.err());
        server.on("GET /v1/workflows/alpha/diff", json(200, "{\"unified\":\"\",\"notes\":[],\"from\":1,\"to\":2}"));
        assertTrue(client.run("workflow", "diff", "alpha", "--from", "1", "--to", "2")
                .err()
                .contains("no difference"));
        assertTrue(server.seen.getLast().target().endsWith("?from=1&to=2"));
    }
}
