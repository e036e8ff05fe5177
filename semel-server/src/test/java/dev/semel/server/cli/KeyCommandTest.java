package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KeyCommandTest {
    private static final String DATE = "Sun, 15 Nov 2026 09:15:04 GMT";

    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open() throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void a_key_report_is_written_in_sentences() {
        server.on("GET /v1/keys/evt_1", json(200, record("active", 2, 1)).with("Date", DATE))
                .on("GET /v1/runs/run_1", json(200, "{\"run_id\":\"run_1\",\"status\":\"completed\"}"))
                .on(
                        "GET /v1/runs/run_1/requests",
                        json(
                                200,
                                "{\"items\":[{\"kind\":\"conflict\",\"status_code\":422,\"changed\":[\"amount\"]}],\"next\":null}"));
        var result = client.run("key", "show", "evt_1");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().startsWith("""
            evt_1  in pay  active, 23 h 57 m left
            First seen 3 m ago, started run_1 (completed). Since then 2 duplicates were answered with that run and 1 request was rejected because amount differed.
            """), result.out());
        assertTrue(
                result.out()
                        .endsWith("A request with this key and the same data would now get status 200 and the same run"
                                + " run_1. After 23 h 57 m, such a request would start a new run.\n"),
                result.out());
    }

    @Test
    void the_key_report_works_without_the_run() {
        server.on("GET /v1/keys/evt_1", json(200, record("active", 0, 0)).with("Date", DATE));
        var result = client.run("key", "show", "evt_1");
        assertEquals(0, result.exit(), result.err());
        assertTrue(
                result.out().contains("First seen 3 m ago, started run_1. No other request used this key."),
                result.out());
    }

    @Test
    void the_key_of_an_unfinished_run_is_held() {
        server.on("GET /v1/keys/evt_1", json(200, record("active", 0, 0)).with("Date", DATE))
                .on("GET /v1/runs/run_1", json(200, "{\"run_id\":\"run_1\",\"status\":\"waiting\"}"));
        var result = client.run("key", "show", "evt_1");
        assertTrue(result.out().contains("The key stays active at least until the run ends."), result.out());
    }

    @Test
    void an_expired_key_would_start_a_new_run() {
        server.on("GET /v1/keys/evt_1", json(200, record("expired", 1, 0)));
        assertTrue(client.run("key", "show", "evt_1")
                .out()
                .contains("A request with this key would now get status 200 and start a new run."));
    }

    @Test
    void a_key_is_one_path_segment_with_any_characters() {
        client.run("key", "show", "a/b c?d#e%f", "--workflow", "pay");
        client.run("key", "show", "..");
        assertEquals(
                "/v1/keys/a%2Fb%20c%3Fd%23e%25f?workflow=pay",
                server.seen.get(0).target());
        assertEquals("/v1/keys/%2E%2E", server.seen.get(1).target());
    }

    @Test
    void release_needs_a_reason_and_sends_it() {
        server.on("POST /v1/keys/evt_1/release", json(200, "{\"idempotency_key\":\"evt_1\",\"status\":\"released\"}"));
        assertEquals(2, client.run("key", "release", "evt_1").exit());
        assertTrue(server.seen.isEmpty());
        assertEquals(
                0,
                client.run("key", "release", "evt_1", "--reason", "asked \"twice\"")
                        .exit());
        assertEquals(
                "{\"reason\":\"asked \\\"twice\\\"\"}",
                server.seen.getLast().body(),
                "with a token that may not read, it is sent without the run");
    }

    @Test
    void release_names_the_run_of_the_key() {
        server.on("GET /v1/keys/evt_1", json(200, record("active", 0, 0)));
        server.on("POST /v1/keys/evt_1/release", json(200, "{\"idempotency_key\":\"evt_1\",\"released\":true}"));
        var done = client.run("key", "release", "evt_1", "--reason", "why");
        assertEquals(0, done.exit());
        assertTrue(done.out().contains("released"), done.out());
        assertEquals(
                "{\"run_id\":\"run_1\",\"reason\":\"why\"}",
                server.seen.getLast().body());
    }

    @Test
    void release_of_several_records_names_no_single_run() {
        String several = record("active", 0, 0).replace("\"others\":[]", "\"others\":[{}]");
        server.on("GET /v1/keys/evt_1", json(200, several));
        server.on("POST /v1/keys/evt_1/release", json(200, "{\"idempotency_key\":\"evt_1\",\"released\":true}"));
        assertEquals(0, client.run("key", "release", "evt_1", "--reason", "why").exit());
        assertEquals("{\"reason\":\"why\"}", server.seen.getLast().body());
    }

    @Test
    void a_release_without_effect_says_so() {
        server.on("GET /v1/keys/evt_1", json(200, record("released", 0, 0)));
        server.on("POST /v1/keys/evt_1/release", json(200, "{\"idempotency_key\":\"evt_1\",\"released\":false}"));
        var done = client.run("key", "release", "evt_1", "--reason", "why");
        assertEquals(0, done.exit());
        assertTrue(done.out().contains("nothing was released"), done.out());
    }

    @Test
    void a_key_may_be_named_release() {
        server.on("GET /v1/keys/release", json(200, record("active", 0, 0)));
        assertEquals(0, client.run("key", "show", "release").exit());
        var verbless = client.run("key", "evt_1");
        assertEquals(2, verbless.exit());
        assertTrue(verbless.err().contains("semel key list|show|simulate|extend|release"), verbless.err());
    }

    @Test
    void json_is_the_record() {
        server.on("GET /v1/keys/evt_1", json(200, record("active", 2, 1)));
        assertEquals(
                "run_1",
                client.run("key", "show", "evt_1", "--json")
                        .json()
                        .path("response_reference")
                        .asString());
        assertEquals(1, server.seen.size());
    }

    private static String record(String status, int replays, int conflicts) {
        return """
            {"idempotency_key":"evt_1","actor_id":"tok_1","operation_name":"pay","request_fingerprint":"sha256:00",
             "status":"%s","response_reference":"run_1","created_at":"2026-11-15T09:12:04Z",
             "expires_at":"2026-11-16T09:12:04Z","last_seen_at":"2026-11-15T09:13:04Z","correlation_id":null,
             "error_summary":null,"replays":%d,"conflicts":%d,"others":[]}\
            """.formatted(status, replays, conflicts);
    }
}
