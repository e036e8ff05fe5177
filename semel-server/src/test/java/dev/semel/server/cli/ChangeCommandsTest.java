package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.files.definition.YamlWorkflowNameReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangeCommandsTest {
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

    @Test
    void a_new_token_is_alone_on_stdout() {
        server.on("POST /v1/tokens", json(200, "{\"token_id\":\"tok_1\",\"token\":\"semel_secret\"}"));
        var result =
                client.run("token", "create", "--workspace", "default", "--scope", "trigger,read", "--name", "shop");
        assertEquals(0, result.exit(), result.err());
        assertEquals("semel_secret\n", result.out());
        assertTrue(result.err().contains("tok_1 created"));
        assertEquals(
                "{\"workspace\":\"default\",\"scopes\":[\"trigger\",\"read\"],\"name\":\"shop\"}",
                server.seen.getFirst().body());
    }

    @Test
    void a_token_may_have_a_quota() {
        server.on("POST /v1/tokens", json(200, "{\"token_id\":\"tok_1\",\"token\":\"semel_secret\"}"));
        var result = client.run("token", "create", "--workspace", "default", "--scope", "trigger", "--quota", "600");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "{\"workspace\":\"default\",\"scopes\":[\"trigger\"],\"quota_per_minute\":600}",
                server.seen.getFirst().body());
        assertEquals(
                2,
                client.run("token", "create", "--workspace", "default", "--scope", "trigger", "--quota", "many")
                        .exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void a_signal_goes_to_a_run_or_to_all_waits_with_a_key() {
        server.on("POST /v1/runs/run_1/signals/paid", json(200, "{\"status\":\"waiting\",\"delivered\":true}"));
        server.on("POST /v1/signals/paid", json(200, "{\"runs\":[\"run_1\",\"run_2\"]}"));
        server.on("POST /v1/signals/early", json(200, "{\"runs\":[],\"stored_until\":\"2026-03-01T09:00:00Z\"}"));
        assertEquals(
                "delivered run_1 (waiting)\n",
                client.run("run", "signal", "run_1", "paid", "--id", "evt_1").out());
        assertEquals(
                "delivered run_1\ndelivered run_2\n",
                client.run("run", "signal", "--key", "o1", "paid", "--data", "{\"a\":1}")
                        .out());
        assertEquals(
                "{\"data\":{\"a\":1},\"key\":\"o1\"}", server.seen.getLast().body());
        assertTrue(client.run("run", "signal", "--key", "o1", "early")
                .out()
                .startsWith("stored until 2026-03-01T09:00:00Z"));
        assertEquals(2, client.run("run", "signal", "paid").exit());
    }

    @Test
    void a_token_is_revoked_by_its_id() {
        server.on("DELETE /v1/tokens/tok_1", new ScriptedServer.ScriptedResponse(204, "", Map.of()));
        assertEquals("tok_1 revoked\n", client.run("token", "revoke", "tok_1").out());
        assertTrue(client.run("token", "revoke", "tok_1", "--json")
                .json()
                .path("revoked")
                .asBoolean());
        assertEquals(6, client.run("token", "revoke", "tok_2").exit());
    }

    @Test
    void a_file_is_published_under_its_declared_name() throws IOException {
        String yaml = "# first\n"
                + "semel: 1\n"
                + "trigger: {http: {key: workflow}}\n"
                + "workflow: pay # here\n"
                + "steps:\n"
                + "  - {id: note, set: {ok: true}}\n";
        Files.writeString(client.folder.resolve("a.yaml"), yaml);
        server.on(
                "PUT /v1/workflows/pay",
                json(200, "{\"workflow_id\":\"wf_1\",\"workflow\":\"pay\",\"version\":2,\"warnings\":[\"no owner\"]}"));
        var result = client.run("publish", "a.yaml");
        assertEquals(0, result.exit(), result.err());
        assertEquals("pay v2 published\n", result.out());
        assertTrue(result.err().contains("a.yaml: warning: no owner"), result.err());
        assertEquals("application/yaml", server.seen.getFirst().header("Content-Type"));
        assertEquals(yaml, server.seen.getFirst().body());
    }

    @Test
    void dry_run_publishes_nothing_and_a_bad_file_does_not_stop_the_others() throws IOException {
        Files.writeString(client.folder.resolve("a.yaml"), "workflow: bad\n");
        Files.writeString(client.folder.resolve("b.yml"), "workflow: good\n");
        Files.writeString(client.folder.resolve("c.yaml"), "steps: []\n");
        Files.writeString(client.folder.resolve("notes.txt"), "workflow: no\n");
        server.on(
                        "PUT /v1/workflows/bad",
                        json(
                                400,
                                "{\"title\":\"T\",\"detail\":\"D\",\"code\":\"invalid-definition\",\"errors\":[{\"line\":3,\"column\":7,\"message\":\"no"
                                    + " such step\"}]}"))
                .on("PUT /v1/workflows/good", json(200, "{\"workflow\":\"good\",\"version\":1,\"warnings\":[]}"));
        var result = client.run("publish", "--dry-run", ".");
        assertEquals(1, result.exit());
        assertEquals("good is valid; nothing was published\n", result.out());
        assertTrue(result.err().contains("line 3:7  no such step"), result.err());
        assertTrue(result.err().contains("c.yaml has no workflow name"), result.err());
        assertTrue(server.seen.stream()
                .allMatch(receivedRequest -> receivedRequest.target().endsWith("?dry_run=true")));
        var json = client.run("publish", "--dry-run", ".", "--json").json();
        assertEquals(3, json.path("items").size());
    }

    @Test
    void an_alias_bomb_is_never_expanded() {
        StringBuilder bomb = new StringBuilder("a0: &a0 [x]\n");
        for (int i = 1; i < 60; i++) {
            bomb.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
        }
        assertEquals(
                "pay", YamlWorkflowNameReader.find(bomb + "workflow: pay\n").orElseThrow());
        assertEquals(
                "pay",
                YamlWorkflowNameReader.find("x: &x y\nz: *x\nworkflow: pay\n").orElseThrow());
    }
}
