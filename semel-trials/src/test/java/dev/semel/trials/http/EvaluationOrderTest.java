package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;

/** Authentication, key syntax, body, workflow, known key, quota, input schema: a request with two faults tells the first. */
class EvaluationOrderTest extends OnBothStores {
    private static final String BAD_KEY = "Idempotency-Key: \"open";
    private static final String JSON = "Content-Type: application/json";
    private static final String HUGE = "x".repeat((1 << 20) + 1);
    private static final String TYPED = flow("typed", "input: { amount: { type: integer, required: true } }");

    EvaluationOrderTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void a_credential_is_checked_before_the_key_and_the_body() {
        HttpReply stranger = stage.server().stranger().send("POST", trigger("none"), HUGE, BAD_KEY);
        ProblemResponseChecks.expect(stranger, 401, "unauthenticated");
        HttpReply reader = stage.server().with("read").send("POST", trigger("none"), HUGE, BAD_KEY);
        ProblemResponseChecks.expect(reader, 403, "forbidden");
    }

    @Test
    void the_key_is_checked_before_size_type_and_content_of_the_body() {
        for (String path : new String[] {trigger("none"), "/v1/workflows/none/runs/r1"}) {
            String method = path.endsWith("r1") ? "PUT" : "POST";
            ProblemResponseChecks.expect(
                    admin().send(method, path, HUGE, JSON, BAD_KEY), 400, "idempotency-key-invalid");
            ProblemResponseChecks.expect(
                    admin().send(method, path, "{}", "Content-Type: text/plain", BAD_KEY),
                    400,
                    "idempotency-key-invalid");
            ProblemResponseChecks.expect(
                    admin().send(method, path, "{", JSON, BAD_KEY), 400, "idempotency-key-invalid");
            ProblemResponseChecks.expect(
                    admin().send(method, path, "x", "Content-Encoding: gzip", BAD_KEY), 400, "idempotency-key-invalid");
        }
    }

    @Test
    void a_body_after_a_bad_key_is_not_read() {
        try (var wire = stage.server().wire()) {
            wire.send(admin().head("POST", trigger("none"), JSON, BAD_KEY, "Expect: 100-continue", "Content-Length: 5")
                    + "\r\n");
            ProblemResponseChecks.expect(wire.reply(), 400, "idempotency-key-invalid");
            assertEquals("", wire.untilClosed());
        }
    }

    @Test
    void the_body_is_checked_before_the_workflow() {
        ProblemResponseChecks.expect(admin().trigger("none", stage.key(), HUGE), 413, "payload-too-large");
        ProblemResponseChecks.expect(admin().trigger("none", stage.key(), "{"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().trigger("none", stage.key(), "{\"task\": 1}"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().send("POST", trigger("none"), "a=b"), 415, "unsupported-media-type");
    }

    @Test
    void the_workflow_is_checked_before_the_key_is_looked_up() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        HttpReply first = started(admin().trigger("plain", key, data("")));
        ProblemResponseChecks.expect(admin().trigger("none", key, data("")), 404, "not-found");
        replay(first, admin().trigger("plain", key, data("")));
    }

    @Test
    void a_known_key_returns_before_the_input_schema_check() {
        admin().publish(TYPED).expect(200);
        String key = stage.key();
        HttpReply first = started(admin().trigger("typed", key, data("\"amount\": 1")));
        HttpReply violated = replay(first, admin().trigger("typed", key, data("\"amount\": \"one\"")));
        assertTrue(violated.flag("payload_mismatch"), violated.body());
        conflict("payload", first, admin().trigger("typed", key, data(""), "Prefer: handling=strict"));
        ProblemResponseChecks.expect(
                admin().trigger("typed", stage.key(), data("\"amount\": \"one\"")), 400, "invalid-input");
    }

    @Test
    void a_known_key_returns_before_the_quota_check() {
        admin().publish(flow("plain")).expect(200);
        ApiCaller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        String key = stage.key();
        HttpReply first = started(small.trigger("plain", key, data("")));
        ProblemResponseChecks.expect(small.trigger("plain", stage.key(), data("")), 429, "over-quota");
        replay(first, small.trigger("plain", key, data("")));
        conflict("payload", first, small.trigger("plain", key, data("\"a\": 1"), "Prefer: handling=strict"));
    }

    @Test
    void the_quota_is_checked_before_the_input_schema() {
        admin().publish(TYPED).expect(200);
        ApiCaller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        started(small.trigger("typed", stage.key(), data("\"amount\": 1")));
        ProblemResponseChecks.expect(
                small.trigger("typed", stage.key(), data("\"amount\": \"one\"")), 429, "over-quota");
    }

    @Test
    void every_rejection_leaves_its_key_free() {
        admin().publish(TYPED).expect(200);
        ApiCaller spent = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        started(spent.trigger("typed", stage.key(), data("\"amount\": 1")));
        long keys = stage.count("SELECT count(*) FROM semel_key");
        String key = stage.key();
        String good = data("\"amount\": 1");
        stage.server().stranger().trigger("typed", key, good).expect(401);
        stage.server().with("read").trigger("typed", key, good).expect(403);
        admin().trigger("typed", key, HUGE).expect(413);
        admin().send("POST", trigger("typed"), good, "Idempotency-Key: " + key).expect(415);
        admin().trigger("typed", key, "{\"data\": {}, \"data\": {}}").expect(400);
        admin().trigger("none", key, good).expect(404);
        spent.trigger("typed", key, good).expect(429);
        admin().trigger("typed", key, data("")).expect(400);
        admin().get("/v1/keys/" + key).expect(404);
        assertEquals(keys, stage.count("SELECT count(*) FROM semel_key"));
        started(admin().trigger("typed", key, good));
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private static String trigger(String workflow) {
        return "/v1/workflows/" + workflow + "/trigger";
    }
}
