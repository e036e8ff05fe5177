package dev.semel.trials.http;

import static dev.semel.trials.support.Flows.data;
import static dev.semel.trials.support.Flows.flow;
import static dev.semel.trials.support.Outcome.conflict;
import static dev.semel.trials.support.Outcome.replay;
import static dev.semel.trials.support.Outcome.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.Caller;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.Problem;
import dev.semel.trials.support.Reply;
import dev.semel.trials.support.Stage;
import org.junit.jupiter.api.Test;

/** Authentication, key syntax, body, workflow, known key, quota, input schema: a request with two faults tells the first. */
class EvaluationOrderTest extends OnBothStores {
    private static final String BAD_KEY = "Idempotency-Key: \"open";
    private static final String JSON = "Content-Type: application/json";
    private static final String HUGE = "x".repeat((1 << 20) + 1);
    private static final String TYPED = flow("typed", "input: { amount: { type: integer, required: true } }");

    EvaluationOrderTest(Stage stage) {
        super(stage);
    }

    @Test
    void a_credential_is_judged_before_the_key_and_the_body() {
        Reply stranger = stage.server().stranger().send("POST", trigger("none"), HUGE, BAD_KEY);
        Problem.expect(stranger, 401, "unauthenticated");
        Reply reader = stage.server().with("read").send("POST", trigger("none"), HUGE, BAD_KEY);
        Problem.expect(reader, 403, "forbidden");
    }

    @Test
    void the_key_is_judged_before_size_type_and_content_of_the_body() {
        for (String path : new String[] {trigger("none"), "/v1/workflows/none/runs/r1"}) {
            String method = path.endsWith("r1") ? "PUT" : "POST";
            Problem.expect(admin().send(method, path, HUGE, JSON, BAD_KEY), 400, "idempotency-key-invalid");
            Problem.expect(
                    admin().send(method, path, "{}", "Content-Type: text/plain", BAD_KEY),
                    400,
                    "idempotency-key-invalid");
            Problem.expect(admin().send(method, path, "{", JSON, BAD_KEY), 400, "idempotency-key-invalid");
            Problem.expect(
                    admin().send(method, path, "x", "Content-Encoding: gzip", BAD_KEY), 400, "idempotency-key-invalid");
        }
    }

    @Test
    void a_body_behind_a_bad_key_is_not_asked_for() {
        try (var wire = stage.server().wire()) {
            wire.send(admin().head("POST", trigger("none"), JSON, BAD_KEY, "Expect: 100-continue", "Content-Length: 5")
                    + "\r\n");
            Problem.expect(wire.reply(), 400, "idempotency-key-invalid");
            assertEquals("", wire.untilClosed());
        }
    }

    @Test
    void the_body_is_judged_before_the_workflow() {
        Problem.expect(admin().trigger("none", stage.key(), HUGE), 413, "payload-too-large");
        Problem.expect(admin().trigger("none", stage.key(), "{"), 400, "invalid-input");
        Problem.expect(admin().trigger("none", stage.key(), "{\"task\": 1}"), 400, "invalid-input");
        Problem.expect(admin().send("POST", trigger("none"), "a=b"), 415, "unsupported-media-type");
    }

    @Test
    void the_workflow_is_judged_before_the_key_is_looked_up() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        Reply first = started(admin().trigger("plain", key, data("")));
        Problem.expect(admin().trigger("none", key, data("")), 404, "not-found");
        replay(first, admin().trigger("plain", key, data("")));
    }

    @Test
    void a_known_key_is_answered_before_the_input_schema_is_held_against_it() {
        admin().publish(TYPED).expect(200);
        String key = stage.key();
        Reply first = started(admin().trigger("typed", key, data("\"amount\": 1")));
        Reply violated = replay(first, admin().trigger("typed", key, data("\"amount\": \"one\"")));
        assertTrue(violated.flag("payload_mismatch"), violated.body());
        conflict("payload", first, admin().trigger("typed", key, data(""), "Prefer: handling=strict"));
        Problem.expect(admin().trigger("typed", stage.key(), data("\"amount\": \"one\"")), 400, "invalid-input");
    }

    @Test
    void a_known_key_is_answered_before_the_quota_is_asked() {
        admin().publish(flow("plain")).expect(200);
        Caller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        String key = stage.key();
        Reply first = started(small.trigger("plain", key, data("")));
        Problem.expect(small.trigger("plain", stage.key(), data("")), 429, "over-quota");
        replay(first, small.trigger("plain", key, data("")));
        conflict("payload", first, small.trigger("plain", key, data("\"a\": 1"), "Prefer: handling=strict"));
    }

    @Test
    void the_quota_is_asked_before_the_input_schema() {
        admin().publish(TYPED).expect(200);
        Caller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        started(small.trigger("typed", stage.key(), data("\"amount\": 1")));
        Problem.expect(small.trigger("typed", stage.key(), data("\"amount\": \"one\"")), 429, "over-quota");
    }

    @Test
    void every_refusal_leaves_its_key_free() {
        admin().publish(TYPED).expect(200);
        Caller spent = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
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

    private Caller admin() {
        return stage.admin();
    }

    private static String trigger(String workflow) {
        return "/v1/workflows/" + workflow + "/trigger";
    }
}
