package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The management of Semel is as safe to ask twice as a trigger, and its errors lead somewhere. */
class IdempotentManagementTest {
    private static final String BODY = "{\"data\":{\"payment_id\":\"p\",\"amount\":1,\"currency\":\"usd\"}}";

    @TempDir
    Path folder;

    private LiveServer server;
    private ApiCaller dev;

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
    void a_token_requested_twice_with_one_key_is_created_once_and_shown_once() {
        String wanted = "{\"scopes\":[\"read\"],\"name\":\"ci\"}";
        HttpReply first = dev.post("/v1/tokens", wanted, "Idempotency-Key: make-ci");
        HttpReply second = dev.post("/v1/tokens", wanted, "Idempotency-Key: make-ci");
        assertEquals(first.json().get("token_id"), second.json().get("token_id"));
        assertTrue(first.json().get("token").isString());
        assertTrue(second.json().get("token").isNull());
        assertEquals("true", second.header("X-Idempotent-Replayed"));
        assertEquals(1, dev.get("/v1/tokens").json().get("items").size());
        HttpReply other =
                dev.post("/v1/tokens", "{\"scopes\":[\"admin\"],\"name\":\"ci\"}", "Idempotency-Key: make-ci");
        assertEquals(422, other.status());
        assertNotEquals(
                first.json().get("token_id"),
                dev.post("/v1/tokens", wanted, "Idempotency-Key: another")
                        .json()
                        .get("token_id"));
    }

    @Test
    void a_release_sent_twice_does_not_release_the_next_run() {
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
    void a_release_sent_twice_with_one_key_is_one_release() {
        String first =
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue();
        String release = "{\"reason\":\"a second receipt\",  \"run_id\":null}";
        String sameButForItsOrder = "{\"run_id\":null,\"reason\":\"a second receipt\"}";
        HttpReply done = dev.post("/v1/keys/K/release", release, "Idempotency-Key: let-go");
        assertTrue(done.expect(200).flag("released"));
        assertNull(done.header("X-Idempotent-Replayed"));
        String second =
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue();
        assertNotEquals(first, second);
        HttpReply again = dev.post("/v1/keys/K/release", sameButForItsOrder, "Idempotency-Key: let-go");
        assertEquals(done.body(), again.body());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertEquals(
                second,
                dev.trigger("payment_receipt", "K", BODY).json().get("run_id").stringValue(),
                "the key of the second run was not let go");
        long released = dev.get("/v1/audit")
                .json()
                .get("items")
                .valueStream()
                .filter(row -> row.path("action").asString("").equals("key.release"))
                .count();
        assertEquals(1, released);
        conflict(dev.post("/v1/keys/K/release", "{\"reason\":\"other\"}", "Idempotency-Key: let-go"));
    }

    private static void conflict(HttpReply reply) {
        reply.expect(422);
        assertEquals("idempotency-key-conflict", reply.json().get("code").stringValue());
        assertTrue(reply.json().get("detail").stringValue().contains("Nothing was changed"));
    }

    @Test
    void a_publish_sent_twice_with_one_key_does_not_undo_a_later_one() {
        String first = "semel: 1\nworkflow: w\nowner: a\nsteps:\n  - {id: note, set: {n: 1}}\n";
        String[] keyed = {"Content-Type: application/yaml", "Idempotency-Key: deploy-1"};
        HttpReply done = dev.send("PUT", "/v1/workflows/w", first, keyed).expect(200);
        dev.publish(first.replace("n: 1", "n: 2")).expect(200);
        HttpReply again = dev.send("PUT", "/v1/workflows/w", first, keyed).expect(200);
        assertEquals(done.body(), again.body());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertEquals(2, dev.get("/v1/workflows/w").json().get("version").intValue());
        conflict(dev.send("PUT", "/v1/workflows/w", first.replace("n: 1", "n: 3"), keyed));
    }

    @Test
    void a_pause_sent_twice_with_one_key_does_not_undo_a_resume() {
        String path = "/v1/workflows/payment_receipt/";
        dev.post(path + "pause", "", "Idempotency-Key: stop").expect(200);
        dev.post(path + "resume", "", "Idempotency-Key: stop").expect(200);
        HttpReply again = dev.post(path + "pause", "", "Idempotency-Key: stop").expect(200);
        assertTrue(again.flag("paused"), "the answer is the one that was given");
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertFalse(dev.get("/v1/workflows/payment_receipt").flag("paused"), "the pause is not done again");
    }

    @Test
    void revoking_twice_with_one_key_returns_the_same_and_without_one_404() {
        String id =
                dev.post("/v1/tokens", "{\"scopes\":[\"read\"]}").expect(200).text("token_id");
        HttpReply done = dev.send("DELETE", "/v1/tokens/" + id, "", "Idempotency-Key: away")
                .expect(200);
        HttpReply again = dev.send("DELETE", "/v1/tokens/" + id, "", "Idempotency-Key: away")
                .expect(200);
        assertEquals(done.body(), again.body());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        dev.delete("/v1/tokens/" + id).expect(404);
        dev.send("DELETE", "/v1/tokens/tok_none", "", "Idempotency-Key: nothing")
                .expect(404);
    }

    @Test
    void a_token_for_a_new_workspace_may_be_requested_twice_and_its_secret_is_not_stored() throws SQLException {
        String wanted = "{\"scopes\":[\"admin\"],\"workspace\":\"two\"}";
        HttpReply first =
                dev.post("/v1/tokens", wanted, "Idempotency-Key: open-two").expect(200);
        HttpReply second =
                dev.post("/v1/tokens", wanted, "Idempotency-Key: open-two").expect(200);
        assertEquals(first.text("token_id"), second.text("token_id"));
        assertTrue(second.json().get("token").isNull());
        dev.post("/v1/tokens", wanted, "Idempotency-Key: open-it-again").expect(403);
        String secret = first.text("token");
        server.as(secret).get("/v1/tokens").expect(200);
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("semel.db"));
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT response FROM semel_idempotent_response")) {
            int seen = 0;
            while (rows.next()) {
                assertFalse(rows.getString(1).contains(secret));
                seen++;
            }
            assertEquals(1, seen, "a refusal keeps nothing");
        }
    }

    @Test
    void equal_concurrent_changes_are_one_change() {
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                8, i -> dev.post("/v1/tokens", "{\"scopes\":[\"read\"]}", "Idempotency-Key: at-once"));
        replies.forEach(reply -> reply.expect(200));
        assertEquals(
                1,
                replies.stream().map(reply -> reply.text("token_id")).distinct().count());
        assertEquals(
                1,
                replies.stream()
                        .filter(reply -> reply.json().get("token").isString())
                        .count());
    }

    @Test
    void a_released_key_is_free_for_the_same_payload_with_unique_payloads() {
        dev.publish("semel: 1\nworkflow: capture\nidempotency: {fingerprint: [id], duplicate_payload: reject}\n"
                        + "steps:\n  - {id: note, set: {ok: true}}\n")
                .expect(200);
        String body = "{\"data\":{\"id\":1}}";
        String first = dev.trigger("capture", "A", body).expect(200).runId();
        dev.trigger("capture", "B", body).expect(409);
        dev.post("/v1/keys/A/release", "{\"reason\":\"the capture was undone\"}")
                .expect(200);
        assertNotEquals(first, dev.trigger("capture", "B", body).expect(200).runId());
    }

    @Test
    void duplicates_during_the_first_admission_are_repeats_with_any_quota() {
        ApiCaller limited = server.as(server.token("\"quota_per_minute\":1", "trigger"));
        List<HttpReply> replies = ConcurrentCalls.atOnce(8, i -> limited.trigger("payment_receipt", "hot", BODY));
        replies.forEach(reply -> reply.expect(200));
        assertEquals(
                1,
                replies.stream()
                        .filter(reply -> !reply.flag("idempotent_replayed"))
                        .count());
        limited.trigger("payment_receipt", "cold", BODY).expect(429);
    }

    @Test
    void a_duplicate_over_its_quota_is_not_recorded() {
        ApiCaller limited = server.as(server.token("\"quota_per_minute\":1", "trigger"));
        String run = limited.trigger("payment_receipt", "hot", BODY).expect(200).runId();
        List<HttpReply> replies = ConcurrentCalls.atOnce(20, i -> limited.trigger("payment_receipt", "hot", BODY));
        long answered = replies.stream().filter(reply -> reply.status() == 200).count();
        assertTrue(answered >= 10, "ten times the quota of fresh ones");
        assertTrue(answered < 20, "some were refused");
        replies.stream().filter(reply -> reply.status() != 200).forEach(reply -> reply.expect(429));
        ConcurrentCalls.until("the rows are written", () -> replays(run) >= answered);
        // A later replay of another actor stands behind all of them, so none is still on its way.
        dev.trigger("payment_receipt", "hot", BODY).expect(200);
        ConcurrentCalls.until("the last row is written", () -> replays(run) > answered);
        assertEquals(answered + 1, replays(run));
    }

    @Test
    void every_duplicate_of_a_run_can_be_paged_through() {
        String run = dev.trigger("payment_receipt", "often", BODY).runId();
        // One at a time and each flushed by itself, so that none is gathered.
        for (int i = 1; i <= 45; i++) {
            long wanted = i;
            dev.trigger("payment_receipt", "often", BODY).expect(200);
            if (i % 15 == 0) {
                ConcurrentCalls.until("the rows are written", () -> replays(run) == wanted);
            }
        }
        long seen = 0;
        String next = "";
        do {
            HttpReply page =
                    dev.get("/v1/runs/" + run + "/requests?limit=20" + next).expect(200);
            for (JsonNode row : page.json().get("items")) {
                seen += row.get("times").asLong();
            }
            JsonNode cursor = page.json().get("next");
            next = cursor.isNull() ? "" : "&after=" + cursor.stringValue();
        } while (!next.isEmpty());
        assertEquals(46, seen, "45 replays and the first request");
    }

    private long replays(String run) {
        return dev.get("/v1/runs/" + run + "/requests").json().get("replays").asLong();
    }

    @Test
    void a_list_omits_large_inputs_and_says_so() {
        String large = "{\"data\":{\"task_id\":\"" + "x".repeat(500_000) + "\"}}";
        for (int i = 0; i < 20; i++) {
            dev.trigger("payment_receipt", "large-" + i, large).expect(200);
        }
        HttpReply list = dev.get("/v1/runs?limit=200").expect(200);
        assertTrue(list.body().length() < 200_000, "a page stays small");
        assertTrue(list.json().at("/items/0/input_omitted").booleanValue());
        String run = list.json().at("/items/0/run_id").stringValue();
        assertEquals(
                500_000,
                dev.get("/v1/runs/" + run)
                        .json()
                        .at("/input/task_id")
                        .stringValue()
                        .length());
    }

    @Test
    void a_malformed_key_is_rejected_on_every_post() {
        for (String path : new String[] {"/v1/tokens", "/v1/keys/K/release", "/v1/workflows/payment_receipt/pause"}) {
            HttpReply reply = dev.post(path, "{}", "Idempotency-Key: \"open");
            assertEquals("idempotency-key-invalid", reply.json().get("code").stringValue(), path);
        }
    }

    @Test
    void every_error_code_has_its_page_on_the_server_that_returns_it() {
        for (ErrorCode code : ErrorCode.values()) {
            HttpReply page = server.stranger().get("/problems/" + code.slug());
            assertEquals(200, page.status(), code.slug());
            assertTrue(page.body().startsWith("## " + code.slug() + "\n"), page.body());
        }
        assertEquals(404, server.stranger().get("/problems/nothing").status());
        assertEquals(404, server.stranger().get("/docs/..%2ferrors").status());
        assertTrue(server.stranger().get("/docs/idempotency").body().startsWith("# "));
    }

    @Test
    void the_type_of_a_problem_is_the_path_of_its_page() {
        HttpReply refused = dev.unkeyed("nowhere", "{}");
        String type = StrictJsonCodec.parse(refused.body()).get("type").stringValue();
        assertEquals(200, server.stranger().get(type).status());
    }
}
