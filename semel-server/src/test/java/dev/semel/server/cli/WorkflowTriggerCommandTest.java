package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.HANG_UP;
import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkflowTriggerCommandTest {
    private static final String TRIGGER = "POST /v1/workflows/pay/trigger";
    private static final ScriptedServer.ScriptedResponse FRESH = json(
            200,
            "{\"run_id\":\"run_1\",\"status\":\"started\",\"workflow_id\":\"wf_1\",\"idempotent_replayed\":false}");
    private static final ScriptedServer.ScriptedResponse REPLAY = json(
            200,
            "{\"run_id\":\"run_1\",\"status\":\"completed\",\"workflow_id\":\"wf_1\",\"idempotent_replayed\":true}");

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
    void a_trigger_carries_key_token_and_data_as_typed() {
        server.on(TRIGGER, FRESH);
        var result =
                client.run("send", "pay", "--key", "evt 1/2", "--data", "{\"amount\":1.10,\"id\":9007199254740993}");
        assertEquals(0, result.exit(), result.err());
        var receivedRequest = server.seen.getFirst();
        assertEquals("evt 1/2", receivedRequest.header("Idempotency-Key"));
        assertEquals("Bearer dev", receivedRequest.header("Authorization"));
        assertEquals("{\"data\":{\"amount\":1.10,\"id\":9007199254740993}}", receivedRequest.body());
        assertEquals("run_1 started\n", result.out());
        assertTrue(result.err().contains("next: semel run show run_1"), result.err());
    }

    @Test
    void three_equal_sends_are_one_run_and_two_prevented_duplicates() {
        server.on(TRIGGER, FRESH, REPLAY);
        var result = client.run("send", "pay", "--key", "evt_1", "--times", "3");
        assertEquals(0, result.exit());
        assertEquals("""
            run_1 started
            ↺ replayed run_1 (completed)
            ↺ replayed run_1 (completed)
            1 run, 2 duplicates prevented
            """, result.out());
        assertTrue(result.err().contains("next: semel key show evt_1"));
    }

    @Test
    void json_is_the_server_response_or_one_document_for_many() {
        server.on(TRIGGER, FRESH, REPLAY);
        assertEquals(
                "run_1",
                client.run("send", "pay", "--key", "k", "--json")
                        .json()
                        .path("run_id")
                        .asString());
        var many = client.run("send", "pay", "--key", "k", "--times", "2", "--json")
                .json();
        assertEquals(2, many.path("items").size());
        assertEquals(2, many.path("duplicates_prevented").asInt());
        assertEquals(1, many.path("runs").asInt());
    }

    @ParameterizedTest
    @CsvSource({
        "400,invalid-input,2",
        "400,idempotency-key-required,2",
        "413,payload-too-large,2",
        "401,unauthenticated,7",
        "403,forbidden,7",
        "404,not-found,6",
        "409,duplicate-payload,1",
        "422,idempotency-key-conflict,3",
        "500,internal,1"
    })
    void a_rejection_becomes_its_exit_code_without_a_retry(int status, String code, int exit) {
        server.on(TRIGGER, problem(status, code, false).with("x-should-retry", "false"));
        var result = client.run("send", "pay", "--key", "k", "--json");
        assertEquals(exit, result.exit());
        assertEquals(code, result.json().path("code").asString());
        assertEquals(
                "Title of " + code + "\n  What happened.\n  fix: What to do.\n  code: " + code + "\n", result.err());
        assertEquals(1, server.seen.size());
    }

    @Test
    void a_busy_server_is_retried_with_the_same_key_after_its_retry_delay() {
        server.on(
                TRIGGER,
                problem(503, "store-unavailable", true).with("Retry-After", "7"),
                problem(429, "over-quota", true).with("Retry-After", "Sun, 15 Nov 2026 09:12:20 GMT"),
                problem(409, "idempotency-key-in-use", true),
                REPLAY);
        var result = client.run("send", "pay", "--key", "evt_1");
        assertEquals(0, result.exit(), result.err());
        assertEquals(4, server.seen.size());
        assertTrue(server.seen.stream()
                .allMatch(receivedRequest ->
                        receivedRequest.header("Idempotency-Key").equals("evt_1")));
        // 7 s as the server says; then a date, 9 s from the 09:12:11 it is by now; then the third backoff.
        assertEquals(List.of(Duration.ofSeconds(7), Duration.ofSeconds(9), Duration.ofMillis(800)), client.pauses);
        assertTrue(result.err().contains("(1 of 5), with the same key"), result.err());
    }

    @Test
    void five_retries_are_the_limit() {
        server.on(TRIGGER, problem(503, "store-unavailable", true));
        assertEquals(8, client.run("send", "pay", "--key", "k").exit());
        assertEquals(6, server.seen.size());
    }

    @Test
    void a_very_long_retry_after_is_not_waited_for() {
        server.on(TRIGGER, problem(503, "shutting-down", true).with("Retry-After", "3600"));
        assertEquals(8, client.run("send", "pay", "--key", "k").exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void a_lost_response_is_retried_with_a_key() {
        server.on(TRIGGER, HANG_UP, REPLAY);
        var result = client.run("send", "pay", "--key", "k");
        assertEquals(0, result.exit(), result.err());
        assertEquals(2, server.seen.size());
    }

    @Test
    void a_lost_response_without_a_key_is_in_doubt_and_never_resent() {
        server.on(TRIGGER, HANG_UP, FRESH);
        var result = client.run("send", "pay", "--json");
        assertEquals(4, result.exit());
        assertEquals(1, server.seen.size());
        assertEquals("outcome-unknown", result.json().path("code").asString());
        assertTrue(result.err().contains("could start a second run"), result.err());
    }

    @Test
    void a_chosen_run_id_makes_a_retry_as_safe_as_a_key() {
        server.on(TRIGGER, HANG_UP, REPLAY);
        assertEquals(0, client.run("send", "pay", "--run-id", "order-7").exit());
        assertEquals(
                "{\"data\":{},\"run_id\":\"order-7\"}", server.seen.getLast().body());
    }

    @Test
    void a_503_of_a_proxy_is_not_retried_without_a_key() {
        server.on(TRIGGER, new ScriptedServer.ScriptedResponse(503, "<html>busy</html>", java.util.Map.of()));
        assertEquals(8, client.run("send", "pay").exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void a_closed_port_is_retried_and_ends_unreachable() {
        client.environment.put("SEMEL_SERVER", server.address());
        server.close();
        var result = client.run("send", "pay");
        assertEquals(8, result.exit(), result.err());
        assertEquals(5, client.pauses.size());
        assertTrue(result.err().contains("connection refused"), result.err());
    }

    @Test
    void wait_asks_the_server_to_hold_and_then_polls_the_run() {
        server.on(TRIGGER, FRESH)
                .on(
                        "GET /v1/runs/run_1",
                        json(200, "{\"run_id\":\"run_1\",\"status\":\"running\"}"),
                        json(200, "{\"run_id\":\"run_1\",\"status\":\"completed\",\"output\":{\"ok\":true}}"));
        var result = client.run("send", "--wait", "pay", "--key", "k", "--json");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/workflows/pay/trigger?wait=30s", server.seen.getFirst().target());
        assertEquals(
                1,
                server.seen.stream()
                        .filter(receivedRequest -> receivedRequest.method().equals("POST"))
                        .count());
        assertTrue(result.json().path("output").path("ok").asBoolean());
        assertFalse(result.json().path("idempotent_replayed").asBoolean());
    }

    @ParameterizedTest
    @CsvSource({"completed,0", "failed,1", "cancelled,1", "in_doubt,4"})
    void with_wait_the_exit_code_shows_how_the_run_ended(String status, int exit) {
        server.on(
                TRIGGER,
                json(200, "{\"run_id\":\"run_1\",\"status\":\"" + status + "\",\"idempotent_replayed\":true}"));
        assertEquals(
                exit, client.run("send", "pay", "--key", "k", "--wait", "5s").exit());
        assertEquals(0, client.run("send", "pay", "--key", "k").exit(), "without it, the trigger was taken");
    }

    @Test
    void a_run_that_does_not_end_in_time_is_no_success() {
        server.on(TRIGGER, FRESH).on("GET /v1/runs/run_1", json(200, "{\"run_id\":\"run_1\",\"status\":\"waiting\"}"));
        var result = client.run("send", "pay", "--key", "k", "--wait", "2m");
        assertEquals(1, result.exit());
        assertTrue(result.err().contains("has not ended after 2 m (waiting)"), result.err());
    }

    @Test
    void a_restarting_server_does_not_end_the_wait() {
        server.on(TRIGGER, FRESH)
                .on(
                        "GET /v1/runs/run_1",
                        HANG_UP,
                        problem(503, "shutting-down", true),
                        json(200, "{\"run_id\":\"run_1\",\"status\":\"completed\"}"));
        var result = client.run("send", "pay", "--key", "k", "--wait");
        assertEquals(0, result.exit(), result.err());
        assertEquals("run_1 completed\n", result.out());
    }

    @Test
    void a_delay_is_sent_and_an_invalid_one_is_wrong_usage() {
        server.on(TRIGGER, FRESH);
        assertEquals(0, client.run("send", "pay", "--key", "k", "--delay", "2h").exit());
        assertEquals("{\"data\":{},\"delay\":\"2h\"}", server.seen.getFirst().body());
        assertEquals(2, client.run("send", "pay", "--delay", "soon").exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void strict_asks_the_server_to_reject_other_data() {
        server.on(TRIGGER, problem(422, "idempotency-key-conflict", false));
        assertEquals(3, client.run("send", "pay", "--key", "k", "--strict").exit());
        assertEquals("handling=strict", server.seen.getFirst().header("Prefer"));
    }

    @Test
    void a_payload_mismatch_is_printed_prominently() {
        server.on(
                TRIGGER,
                json(
                        200,
                        "{\"run_id\":\"run_1\",\"status\":\"completed\",\"idempotent_replayed\":true,\"payload_mismatch\":true}"));
        assertTrue(client.run("send", "pay", "--key", "k").err().contains("the new data was not used"));
    }

    @Test
    void data_comes_from_a_file_or_stdin(@TempDir Path folder) throws IOException {
        server.on(TRIGGER, FRESH);
        client.folder = folder;
        Files.writeString(folder.resolve("p a.json"), "\ufeff{\"name\":\"Müller\"}");
        assertEquals(0, client.run("send", "pay", "--data", "@p a.json").exit());
        client.stdin = "[1]";
        assertEquals(0, client.run("send", "pay", "--data", "-").exit());
        assertEquals(
                List.of("{\"data\":{\"name\":\"Müller\"}}", "{\"data\":[1]}"),
                server.seen.stream().map(ScriptedServer.ReceivedRequest::body).toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"a\":1",
                "{} , \"run_id\": \"x\"",
                "{\"a\":1,\"a\":2}",
                "''",
                "@nowhere.json",
                "{\"a\":\"\ufffd\"}"
            })
    void data_that_is_not_one_json_value_is_wrong_usage_and_nothing_is_sent(String data) {
        var result = client.run("send", "pay", "--data", data);
        assertEquals(2, result.exit(), result.err());
        assertTrue(server.seen.isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"--key,''", "--key,' a'", "--key,kü", "--times,0", "--times,1001", "--run-id,a/b", "--wait=soon,x"})
    void arguments_out_of_range_are_wrong_usage_and_nothing_is_sent(String option, String value) {
        assertEquals(2, client.run("send", "pay", option, value).exit());
        assertTrue(server.seen.isEmpty());
    }

    @Test
    void a_256_character_key_is_rejected_by_the_client() {
        server.on(TRIGGER, FRESH);
        assertEquals(0, client.run("send", "pay", "--key", "k".repeat(255)).exit());
        assertEquals(2, client.run("send", "pay", "--key", "k".repeat(256)).exit());
    }

    @Test
    void a_non_semel_server_is_unreachable() {
        server.on(TRIGGER, new ScriptedServer.ScriptedResponse(200, "<html>hello</html>", java.util.Map.of()));
        assertEquals(8, client.run("send", "pay", "--key", "k").exit());
    }
}
