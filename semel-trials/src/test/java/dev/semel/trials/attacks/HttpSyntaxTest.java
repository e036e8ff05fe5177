package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.ServerFixture;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that two parsers read in two ways, and keys in every spelling, through to the store. */
class HttpSyntaxTest extends OnBothStores {
    private static final String BODY = data("");

    HttpSyntaxTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void publish() {
        stage.admin().publish(flow("plain")).expect(200);
    }

    @Test
    void s14_content_length_and_transfer_encoding_together_is_rejected() {
        refused("Content-Length: " + BODY.length() + "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + hidden("cl-te"));
        refused("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + hidden("te-cl"));
    }

    @Test
    void s14_two_content_lengths_are_rejected() {
        refused("Content-Length: 0\r\nContent-Length: " + BODY.length() + "\r\n\r\n" + hidden("two-cl"));
        refused("Content-Length: 0, 5\r\n\r\n" + hidden("list-cl"));
    }

    @Test
    void s14_a_transfer_encoding_that_is_not_just_chunked_is_rejected() {
        refused("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden("space-te"));
        refused("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + hidden("list-te"));
        refused("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden("two-te"));
    }

    @Test
    void s14_unusual_line_endings_and_starts_are_rejected() {
        refused("Content-Length: 0\n\n" + hidden("bare-lf"));
        refused(" Content-Length: 0\r\n\r\n" + hidden("leading-space"));
        refused("X: a\r\n Idempotency-Key: folded\r\nContent-Length: 0\r\n\r\n" + hidden("fold"));
        refused("X: a\rIdempotency-Key: b\r\nContent-Length: 0\r\n\r\n" + hidden("bare-cr"));
    }

    @Test
    void s14_chunks_that_hide_a_line_are_rejected() {
        refused("Transfer-Encoding: chunked\r\n\r\n5;ext=\n\r\nhello\r\n0\r\n\r\n" + hidden("chunk-ext"));
        refused("Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: a\r\n\r\n" + hidden("trailer"));
        refused("Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n" + hidden("chunk-end"));
    }

    @Test
    void s14_http_1_0_and_a_request_without_a_host_are_rejected() {
        String head = stage.admin().head("POST", "/v1/workflows/plain/trigger", "Idempotency-Key: old");
        refusedRaw(head.replace("HTTP/1.1", "HTTP/1.0")
                + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden("http-1-0"));
        refusedRaw(head.replace("Host: localhost\r\n", "") + "Content-Length: 0\r\n\r\n" + hidden("no-host"));
    }

    @Test
    void item18_a_method_in_lower_case_is_rejected() {
        for (String method : new String[] {"get", "Get", "gET", "head", "post", "delete"}) {
            String before = stage.rows();
            try (RawConnection wire = stage.server().wire()) {
                wire.send(
                        stage.admin().head(method, "/v1/runs", "Idempotency-Key: lower") + "Content-Length: 0\r\n\r\n");
                String answers = wire.untilClosed();
                assertTrue(answers.startsWith("HTTP/1.1 400 "), () -> method + "\n=>\n" + answers);
                assertTrue(answers.contains("Methods are case-sensitive"), answers);
            }
            assertEquals(before, stage.rows(), method);
        }
    }

    @Test
    void s14_a_valid_chunked_trigger_is_served() {
        String key = stage.key();
        try (RawConnection wire = stage.server().wire()) {
            String size = Integer.toHexString(BODY.length());
            wire.send(stage.admin()
                            .head(
                                    "POST",
                                    "/v1/workflows/plain/trigger",
                                    "Idempotency-Key: " + key,
                                    "Content-Type: application/json")
                    + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\n" + BODY + "\r\n0\r\n\r\n");
            HttpReply reply = started(wire.reply());
            replay(reply, stage.admin().trigger("plain", key, BODY));
        }
    }

    @Test
    void s15_a_key_header_has_one_meaning() {
        for (String lines : new String[] {
            "Idempotency-Key: a\r\nIdempotency-Key: b",
            "Idempotency-Key: \"a\", \"b\"",
            "Idempotency-Key: \"a\"b",
            "Idempotency-Key: \"a",
            "Idempotency-Key: \"a\\x\"",
            "Idempotency-Key:  ",
            "Idempotency-Key: \"\"",
            "idempotency-key: a\r\nIDEMPOTENCY-KEY: a",
            "Idempotency-Key: " + "k".repeat(256),
            "Idempotency-Key: \"" + "k".repeat(256) + "\"",
            "Idempotency-Key: \"a\";=",
            "Idempotency-Key: \ta\tb"
        }) {
            String before = stage.rows();
            HttpReply reply = stage.admin()
                    .send(
                            "POST",
                            "/v1/workflows/plain/trigger",
                            BODY,
                            (lines + "\r\nContent-Type: application/json").split("\r\n"));
            ProblemResponseChecks.expect(reply, 400, "idempotency-key-invalid");
            assertEquals(before, stage.rows(), lines);
        }
        // A bare comma is a character like any other: one line is one key.
        HttpReply comma = started(stage.admin().trigger("plain", "a, b", BODY));
        assertEquals("a, b", comma.header("Idempotency-Key"));
        replay(comma, stage.admin().trigger("plain", "\"a, b\"", BODY));
        String longest = "q\\\"" + "k".repeat(252);
        HttpReply quoted = started(stage.admin()
                .trigger("plain", "\"" + longest.replace("\\", "\\\\").replace("\"", "\\\"") + "\"", BODY));
        assertEquals(longest, run(quoted));
    }

    @Test
    void s16_characters_outside_the_alphabet_are_rejected_in_header_path_and_batch() {
        String before = stage.rows();
        for (String raw : new String[] {
            "caf\u00c3\u00a9", "x\u00e9", "\u0080", "a\u00ffb", "\u00e2\u0080\u008b", "\u00f0\u009f\u0098\u0080"
        }) {
            try (RawConnection wire = stage.server().wire()) {
                wire.send(stage.admin().head("POST", "/v1/workflows/plain/trigger", "Idempotency-Key: " + raw)
                        + "Content-Length: 0\r\n\r\n");
                ProblemResponseChecks.expect(wire.reply(), 400, "idempotency-key-invalid");
            }
        }
        for (String json : new String[] {
            "\\ud800x",
            "\\ud801x",
            "\\u0000",
            "\\u00e9",
            "e\\u0301",
            "\\u212a",
            "\\u200b",
            "\\u202e",
            "\\ud83d\\ude00",
            "\\n",
            "\\u007f"
        }) {
            HttpReply reply = stage.admin()
                    .post(
                            "/v1/workflows/plain/trigger-batch",
                            "{\"items\": [{\"key\": \"" + json + "\", \"data\": {}}]}");
            int status = reply.status() == 400
                    ? 400
                    : reply.json().at("/items/0/status_code").asInt();
            assertEquals(400, status, () -> json + " " + reply.body());
        }
        for (String path : new String[] {"%C3%A9", "%ED%A0%80x", "%00", "%0A", "%E2%80%8B", "%FF"}) {
            assertEquals(400, stage.admin().get("/v1/keys/" + path).status(), path);
        }
        assertEquals(before, stage.rows());
        HttpReply question = started(stage.admin().trigger("plain", "?x", BODY));
        assertFalse(question.flag("idempotent_replayed"));
    }

    @Test
    void s16_keys_that_look_alike_are_different_keys_on_this_store() {
        String[] keys = {"k", "K", "k.", "k ~", "k  ~", "k'", "k`", "k\\", "k/", "k%", "k_", "kk"};
        java.util.Set<String> runs = new java.util.HashSet<>();
        for (String key : keys) {
            runs.add(started(stage.admin().trigger("plain", key, BODY)).runId());
        }
        assertEquals(keys.length, runs.size());
        for (String key : keys) {
            assertTrue(runs.contains(stage.admin().trigger("plain", key, BODY).runId()), key);
        }
    }

    private String run(HttpReply reply) {
        return stage.admin().get("/v1/runs/" + reply.runId()).text("key");
    }

    /** A whole request that must never be seen as one. */
    private String hidden(String key) {
        return stage.admin()
                        .head(
                                "POST",
                                "/v1/workflows/plain/trigger",
                                "Idempotency-Key: hidden-" + key,
                                "Content-Type: application/json")
                + "Content-Length: " + BODY.length() + "\r\n\r\n" + BODY;
    }

    private void refused(String rest) {
        refusedRaw(stage.admin().head("POST", "/v1/workflows/plain/trigger", "Idempotency-Key: attack") + rest);
    }

    /** One 400, the connection ends, nothing is stored, and the next caller is served. */
    private void refusedRaw(String request) {
        String before = stage.rows();
        try (RawConnection wire = stage.server().wire()) {
            wire.tryToSend(request.getBytes(StandardCharsets.ISO_8859_1));
            String answers = wire.untilClosed();
            assertTrue(answers.startsWith("HTTP/1.1 400 "), () -> request + "\n=>\n" + answers);
            assertEquals(2, answers.split("HTTP/1.1 \\d{3} ", -1).length, () -> "two answers: " + answers);
        }
        assertEquals(before, stage.rows());
        stage.server().stranger().get("/healthz").expect(200);
    }
}
