package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who did what, what went wrong, and what is kept for how long. */
class AuditCommandsTest {
    private static final String ROW =
            "{\"at\":\"2026-11-15T09:12:00Z\",\"actor_id\":\"tok_1\",\"action\":\"key.release\","
                    + "\"target\":\"evt_1\",\"reason\":\"on purpose\"}";

    @TempDir
    Path folder = Path.of("");

    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open() throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
        client.folder = folder;
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void the_audit_is_a_table_and_its_filter_is_sent_as_typed() {
        server.on("GET /v1/audit", json(200, "{\"items\":[" + ROW + "],\"next\":\"abc\"}"));
        var result = client.run("audit", "list", "action:key.release", "since:7d", "--plain");
        assertEquals(0, result.exit(), result.err());
        assertEquals("2026-11-15T09:12:00Z\ttok_1\tkey.release\tevt_1\ton purpose\n", result.out());
        assertTrue(
                server.seen.getFirst().target().contains("q=action%3Akey.release%20since%3A7d"),
                server.seen.getFirst().target());
        assertTrue(
                result.err().contains("more: semel audit list action:key.release since:7d --after abc"), result.err());
    }

    @Test
    void an_export_covers_all_pages_and_leaves_no_partial_file() throws IOException {
        server.on(
                "GET /v1/audit",
                json(200, "{\"items\":[" + ROW + "],\"next\":\"abc\"}"),
                json(200, "{\"items\":[" + ROW + "],\"next\":null}"));
        var result = client.run("audit", "list", "--export", "audit.jsonl");
        assertEquals(0, result.exit(), result.err());
        assertEquals(ROW + "\n" + ROW + "\n", Files.readString(folder.resolve("audit.jsonl")));
        assertFalse(Files.exists(folder.resolve("audit.jsonl.part")));
        assertTrue(result.err().contains("2 rows written to audit.jsonl"), result.err());
        assertEquals(
                1,
                client.run("audit", "list", "--export", "nowhere/audit.jsonl").exit());
    }

    @Test
    void an_incident_report_is_drafted_and_shown_by_its_questions() {
        server.on(
                "POST /v1/incidents",
                json(
                        200,
                        "{\"incident_id\":\"inc_1\",\"title\":\"outage\",\"since\":\"a\",\"until\":\"b\",\"answers\":"
                                + "{\"trigger\":\"run_1 failed\"}}"));
        var result = client.run("incident", "create", "--since", "2h", "--title", "outage");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "{\"since\":\"2h\",\"title\":\"outage\"}",
                server.seen.getFirst().body());
        assertTrue(result.out().contains("trigger\n  run_1 failed\n"), result.out());
        assertEquals(2, client.run("incident").exit());
    }

    @Test
    void retention_options_accept_only_known_names() {
        assertEquals(
                0,
                client.run("serve", "--keep", "runs=30d", "--keep", "payloads=12h")
                        .exit());
        assertEquals(
                Map.of("runs", Duration.ofDays(30), "payloads", Duration.ofHours(12)),
                client.served.getFirst().retention());
        assertEquals(2, client.run("serve", "--keep", "keys=1d").exit());
        assertEquals(2, client.run("serve", "--keep", "runs").exit());
        client.environment.put("SEMEL_KEEP", "audit=365d, events=14d");
        client.run("serve");
        assertEquals(
                Map.of("audit", Duration.ofDays(365), "events", Duration.ofDays(14)),
                client.served.getLast().retention());
    }

    @Test
    void only_dev_accepts_a_provider_simulator_port_and_only_a_local_one() {
        client.environment.put("SEMEL_STAND_IN", "4711");
        client.run("dev");
        assertEquals(4711, client.served.getLast().stepPermissions().stubPort());
        client.run("serve");
        assertEquals(0, client.served.getLast().stepPermissions().stubPort());
        client.environment.put("SEMEL_STAND_IN", "evil.example:80");
        assertEquals(2, client.run("dev").exit());
    }

    @Test
    void qa_needs_an_existing_workflow_and_an_object_as_data() throws IOException {
        Files.writeString(folder.resolve("a.yaml"), "semel: 1\nworkflow: a\nsteps: [{id: note, set: {ok: true}}]\n");
        var result = client.run("qa", "a.yaml", "--data", "[]");
        assertEquals(2, result.exit(), result.err());
        assertTrue(result.err().contains("not a JSON object"), result.err());
    }
}
