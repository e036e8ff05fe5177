package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.json.Json;
import dev.semel.trials.support.Caller;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.Reply;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The management of Semel is as safe to ask twice as a trigger, and its errors lead somewhere. */
class AskingTwiceTest {
    private static final String BODY = "{\"data\":{\"payment_id\":\"p\",\"amount\":1,\"currency\":\"usd\"}}";

    @TempDir
    Path folder;

    private LiveServer server;
    private Caller dev;

    @BeforeEach
    void start() {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        dev = server.admin();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void a_token_asked_for_twice_with_one_key_is_made_once_and_its_secret_is_shown_once() {
        String wanted = "{\"scopes\":[\"read\"],\"name\":\"ci\"}";
        Reply first = dev.post("/v1/tokens", wanted, "Idempotency-Key: make-ci");
        Reply second = dev.post("/v1/tokens", wanted, "Idempotency-Key: make-ci");
        assertEquals(first.json().get("token_id"), second.json().get("token_id"));
        assertTrue(first.json().get("token").isString());
        assertTrue(second.json().get("token").isNull());
        assertEquals("true", second.header("X-Idempotent-Replayed"));
        assertEquals(1, dev.get("/v1/tokens").json().get("items").size());
        Reply other = dev.post("/v1/tokens", "{\"scopes\":[\"admin\"],\"name\":\"ci\"}", "Idempotency-Key: make-ci");
        assertEquals(422, other.status());
        assertNotEquals(
                first.json().get("token_id"),
                dev.post("/v1/tokens", wanted, "Idempotency-Key: another")
                        .json()
                        .get("token_id"));
    }

    @Test
    void a_release_sent_twice_does_not_let_the_next_run_go() {
        String first =
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue();
        String release = "{\"reason\":\"a second receipt\",\"run_id\":\"" + first + "\"}";
        assertTrue(
                dev.post("/v1/keys/K/release", release).json().get("released").booleanValue());
        String second =
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue();
        assertNotEquals(first, second);
        assertFalse(
                dev.post("/v1/keys/K/release", release).json().get("released").booleanValue());
        assertEquals(
                second,
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue());
    }

    @Test
    void a_released_key_is_free_for_the_same_payload_where_a_payload_is_taken_only_once() {
        dev.publish("semel: 1\nworkflow: capture\nidempotency: {fingerprint: [id], duplicate_payload: reject}\n"
                        + "steps:\n  - {id: note, set: {ok: true}}\n")
                .expect(200);
        String body = "{\"data\":{\"id\":1}}";
        String first = dev.trigger("capture", "A", body).expect(200).runId();
        dev.trigger("capture", "B", body).expect(409);
        dev.post("/v1/keys/A/release", "{\"reason\":\"the capture was undone\"}").expect(200);
        assertNotEquals(first, dev.trigger("capture", "B", body).expect(200).runId());
    }

    @Test
    void a_malformed_key_is_refused_on_every_post() {
        for (String path : new String[] {"/v1/tokens", "/v1/keys/K/release", "/v1/workflows/payment_receipt/pause"}) {
            Reply reply = dev.post(path, "{}", "Idempotency-Key: \"open");
            assertEquals("idempotency-key-invalid", reply.json().get("code").stringValue(), path);
        }
    }

    @Test
    void every_error_code_has_its_page_on_the_server_that_answers_with_it() {
        for (ErrorCode code : ErrorCode.values()) {
            Reply page = server.stranger().get("/problems/" + code.slug());
            assertEquals(200, page.status(), code.slug());
            assertTrue(page.body().startsWith("## " + code.slug() + "\n"), page.body());
        }
        assertEquals(404, server.stranger().get("/problems/nothing").status());
        assertEquals(404, server.stranger().get("/docs/..%2ferrors").status());
        assertTrue(server.stranger().get("/docs/idempotency").body().startsWith("# "));
    }

    @Test
    void the_type_of_a_problem_is_the_path_of_its_page() {
        Reply refused = dev.unkeyed("nowhere", "{}");
        String type = Json.parse(refused.body()).get("type").stringValue();
        assertEquals(200, server.stranger().get(type).status());
    }
}
