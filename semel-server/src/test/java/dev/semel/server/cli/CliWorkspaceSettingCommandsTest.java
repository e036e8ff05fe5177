package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.server.DoctorChecks;
import dev.semel.server.cli.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `secret`, `template`, `profile` and their like. */
class CliWorkspaceSettingCommandsTest {
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
    void a_secret_is_read_from_stdin_without_its_last_line_break_and_never_printed() {
        server.on(
                "PUT /v1/secrets/stripe",
                json(200, "{\"name\":\"stripe\",\"version\":2,\"fingerprint\":\"a1b2c3d4\",\"key\":\"current\"}"));
        client.stdin = "sk live \u202e \"quoted\"\n\n";
        var result = client.run("secret", "set", "stripe");
        assertEquals(0, result.exit(), result.err());
        assertEquals("secret stripe v2  fingerprint a1b2c3d4\n", result.out());
        assertFalse((result.out() + result.err()).contains("sk live"));
        String sent = server.seen.getFirst().body();
        assertEquals(
                "sk live \u202e \"quoted\"\n",
                TerminalJsonFormatter.parse(sent).path("value").asString(),
                "exactly what was given");
    }

    @Test
    void a_secret_is_never_an_argument_and_never_empty() {
        client.stdin = "";
        assertEquals(2, client.run("secret", "set", "stripe", "sk_live_1").exit());
        assertEquals(2, client.run("secret", "set", "stripe").exit());
        client.stdin = "\n";
        var empty = client.run("secret", "set", "stripe");
        assertEquals(2, empty.exit());
        assertTrue(empty.err().contains("Nothing was stored"), empty.err());
        assertEquals(0, server.seen.size());
    }

    @Test
    void a_view_is_saved_under_its_name() {
        server.on("PUT /v1/views/late", json(200, "{\"name\":\"late\",\"version\":1,\"warnings\":[]}"));
        client.stdin = "{\"filter\": \"status:failed since:24h\"}";
        var result = client.run("view", "save", "late", "-");
        assertEquals("view late v1\n", result.out());
    }

    @Test
    void a_document_is_saved_over_the_named_version() throws IOException {
        Files.writeString(client.folder.resolve("w.json"), "{\"channel\": \"sms\", \"text\": \"hi\"}");
        server.on(
                "PUT /v1/templates/welcome",
                json(200, "{\"name\":\"welcome\",\"version\":4,\"warnings\":[\"look here\"]}"),
                json(200, "{\"name\":\"welcome\",\"version\":1,\"warnings\":[]}"),
                problem(412, "precondition-failed", false));
        var over = client.run("template", "save", "welcome", "w.json", "--over", "3");
        assertEquals("template welcome v4\n", over.out());
        assertTrue(over.err().contains("warning: look here"), over.err());
        assertEquals("\"3\"", server.seen.get(0).header("If-Match"));
        assertEquals(
                0,
                client.run("template", "save", "welcome", "w.json", "--over", "0")
                        .exit());
        assertEquals("*", server.seen.get(1).header("If-None-Match"));
        assertEquals(
                9,
                client.run("template", "save", "welcome", "w.json", "--over", "3")
                        .exit());
        assertEquals(
                2, client.run("template", "save", "welcome", "missing.json").exit());
        assertEquals(2, client.run("template").exit(), "it says what there is to do");
    }

    @Test
    void profiles_are_saved_listed_and_unsubscribed() {
        server.on(
                        "GET /v1/profiles",
                        json(200, "{\"items\":[{\"profile_id\":\"cus_1\",\"version\":2}],\"next\":\"abc\"}"))
                .on("PUT /v1/profiles/cus%2F1/subscriptions/email", json(200, "{\"topic\":\"email\"}"))
                .on("DELETE /v1/cohorts/vip/members/cus_1", json(200, "{\"removed\":true}"));
        var list = client.run("profile", "list", "--plain");
        assertTrue(list.out().startsWith("cus_1\t2"), list.out());
        assertTrue(list.err().contains("more: semel profile list --after abc"), list.err());
        assertEquals(
                "cus/1 gets no email\n",
                client.run("profile", "unsubscribe", "cus/1", "email").out());
        assertEquals("{\"subscribed\":false}", server.seen.get(1).body());
        assertEquals(
                "cus_1 is not in vip\n",
                client.run("cohort", "remove", "vip", "cus_1").out());
    }

    @Test
    void the_server_reads_its_key_from_the_environment_and_never_prints_it() {
        client.environment.put("SEMEL_SECRET_KEY", "c2VjcmV0");
        client.run("serve");
        ServerOptions options = client.served.getFirst();
        assertEquals("c2VjcmV0", options.secretKey().text());
        assertFalse(options.toString().contains("c2VjcmV0"), options.toString());
    }

    @Test
    void the_doctor_detects_an_invalid_key() {
        assertEquals("ok", DoctorChecks.checkSecretKey("").severityName());
        assertEquals("fail", DoctorChecks.checkSecretKey("c2hvcnQ=").severityName());
    }
}
