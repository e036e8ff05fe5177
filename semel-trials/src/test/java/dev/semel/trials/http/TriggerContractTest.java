package dev.semel.trials.http;

import static dev.semel.trials.support.Flows.data;
import static dev.semel.trials.support.Flows.flow;
import static dev.semel.trials.support.Flows.keyed;
import static dev.semel.trials.support.Outcome.conflict;
import static dev.semel.trials.support.Outcome.replay;
import static dev.semel.trials.support.Outcome.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.Caller;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.Problem;
import dev.semel.trials.support.Reply;
import dev.semel.trials.support.Stage;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The table of the contract's section 2, row by row; the rows about time, races and a store that fails stand elsewhere. */
class TriggerContractTest extends OnBothStores {
    private static final String GUIDE = "rel=\"describedby\"";

    TriggerContractTest(Stage stage) {
        super(stage);
    }

    @Test
    void row_1_without_a_key_every_request_starts_a_run() {
        Reply first = admin().unkeyed(plain(), data(""));
        Reply second = admin().unkeyed(plain(), data(""));
        started(first);
        started(second);
        assertNotEquals(first.runId(), second.runId());
        assertNull(first.header("Idempotency-Key"));
        assertNull(first.header("Idempotency-Expires"));
    }

    @Test
    void row_2_a_new_key_starts_a_run_and_is_echoed_with_its_expiry() {
        String key = stage.key();
        Instant before = Instant.now();
        Reply reply = admin().trigger(plain(), key, data(""));
        started(reply);
        assertEquals(key, reply.header("Idempotency-Key"));
        Duration window = Duration.between(before, expiry(reply));
        assertTrue(window.compareTo(Duration.ofHours(24).minusSeconds(2)) > 0, window::toString);
        assertTrue(window.compareTo(Duration.ofHours(25)) < 0, window::toString);
        assertNull(reply.header("X-Idempotent-Replayed"));
        assertNull(reply.header("Idempotent-Replayed"));
    }

    @Test
    void row_3_a_known_key_answers_with_the_same_run_and_its_live_status() {
        String key = stage.key();
        Reply first = admin().trigger(plain(), key, data("\"a\": 1"));
        Reply waited = replay(first, admin().post(trigger(plain()) + "?wait=60s", data("\"a\": 1"), key(key)));
        assertEquals("completed", waited.text("status"));
        Reply last = replay(first, admin().trigger(plain(), key, data("\"a\": 1.0")));
        assertEquals("completed", last.text("status"));
        assertFalse(last.has("payload_mismatch"));
        assertNull(last.header("X-Idempotency-Payload-Mismatch"));
        assertEquals(first.header("Idempotency-Expires"), last.header("Idempotency-Expires"));
    }

    @Test
    void row_4a_another_payload_is_replayed_loudly_where_the_key_alone_decides() {
        String key = stage.key();
        Reply first = admin().trigger(plain(), key, data("\"amount\": 1"));
        Reply other = replay(first, admin().trigger(plain(), key, data("\"amount\": 2")));
        assertEquals("true", other.header("X-Idempotency-Payload-Mismatch"));
        assertTrue(other.flag("payload_mismatch"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
    }

    @Test
    void row_4b_another_payload_is_422_where_a_fingerprint_is_declared() {
        admin().publish(keyed("declared", "fingerprint: [payment_id, amount]")).expect(200);
        String key = stage.key();
        Reply first = admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 1"));
        Reply other = admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 2"));
        assertEquals(key, conflict("payload", first, other).text("idempotency_key"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
        replay(first, admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 1, \"noise\": 5")));
    }

    @Test
    void row_4b_strict_handling_is_422_whatever_the_workflow_says_and_tells_that_it_was_applied() {
        String key = stage.key();
        Reply first = admin().trigger(plain(), key, data("\"amount\": 1"), "Prefer: handling=strict");
        assertEquals("handling=strict", first.header("Preference-Applied"));
        Reply other = admin().trigger(plain(), key, data("\"amount\": 2"), "Prefer: handling=strict");
        assertEquals(key, conflict("payload", first, other).text("idempotency_key"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
        Reply same = admin().trigger(plain(), key, data("\"amount\": 1"), "Prefer: handling=strict");
        assertEquals("handling=strict", replay(first, same).header("Preference-Applied"));
        assertTrue(admin().trigger(plain(), key, data("\"amount\": 2")).flag("payload_mismatch"));
    }

    @Test
    void row_4c_another_payload_is_another_run_where_the_fingerprint_is_part_of_the_key() {
        admin().publish(keyed("distinct", "on_mismatch: distinct, fingerprint: [text]"))
                .expect(200);
        String key = stage.key();
        Reply first = admin().trigger("distinct", key, data("\"text\": \"a\""));
        Reply other = admin().trigger("distinct", key, data("\"text\": \"b\""));
        started(other);
        assertNotEquals(first.runId(), other.runId());
        assertEquals(key, other.header("Idempotency-Key"));
        assertNotNull(other.header("Idempotency-Expires"));
        replay(first, admin().trigger("distinct", key, data("\"text\": \"a\"")));
        replay(other, admin().trigger("distinct", key, data("\"text\": \"b\"")));
    }

    @Test
    void row_4_on_mismatch_overrides_what_the_fingerprint_would_mean() {
        admin().publish(keyed("loud", "on_mismatch: replay, fingerprint: [a]")).expect(200);
        admin().publish(keyed("hard", "on_mismatch: reject")).expect(200);
        String key = stage.key();
        Reply loud = admin().trigger("loud", key, data("\"a\": 1"));
        assertTrue(replay(loud, admin().trigger("loud", key, data("\"a\": 2"))).flag("payload_mismatch"));
        String other = stage.key();
        Reply hard = admin().trigger("hard", other, data("\"a\": 1"));
        conflict("payload", hard, admin().trigger("hard", other, data("\"a\": 2")));
    }

    @Test
    void row_5_the_key_of_another_workflow_is_422_and_says_how_to_share_it() {
        admin().publish(flow("elsewhere")).expect(200);
        String key = stage.key();
        Reply first = admin().trigger(plain(), key, data(""));
        Reply other = admin().trigger("elsewhere", key, data(""));
        assertEquals(key, conflict("workflow", first, other).text("idempotency_key"));
        assertTrue(other.text("fix").contains("scope: workflow"), other.body());
    }

    @Test
    void row_5_does_not_happen_where_the_scope_is_the_workflow() {
        admin().publish(keyed("fan_one", "scope: workflow")).expect(200);
        admin().publish(keyed("fan_two", "scope: workflow")).expect(200);
        String key = stage.key();
        Reply wide = admin().trigger(plain(), key, data(""));
        Reply one = admin().trigger("fan_one", key, data(""));
        Reply two = admin().trigger("fan_two", key, data(""));
        assertEquals(3, Set.of(wide.runId(), one.runId(), two.runId()).size());
        replay(one, admin().trigger("fan_one", key, data("")));
        replay(two, admin().trigger("fan_two", key, data("")));
        replay(wide, admin().trigger(plain(), key, data("")));
    }

    @Test
    void row_8_a_malformed_key_is_400_and_nothing_is_started() {
        String before = stage.rows();
        for (String line : new String[] {
            "Idempotency-Key:",
            "Idempotency-Key: \"open",
            "Idempotency-Key: \"a\" b",
            "Idempotency-Key: \"\"",
            "Idempotency-Key: " + "k".repeat(256),
            "Idempotency-Key: a\r\nIdempotency-Key: a",
            "Idempotency-Key: caf\u00e9"
        }) {
            Reply reply = admin().send("POST", trigger(plain()), data(""), "Content-Type: application/json", line);
            Problem.expect(reply, 400, "idempotency-key-invalid");
            assertTrue(reply.text("spec").contains("draft-ietf-httpapi-idempotency-key-header-07"), reply.body());
            assertFalse(reply.flag("retryable"));
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void row_9_a_required_key_that_is_missing_is_400() {
        admin().publish(flow("needs_key", "trigger: { http: { require_key: true } }"))
                .expect(200);
        Reply refused = admin().unkeyed("needs_key", data(""));
        Problem.expect(refused, 400, "idempotency-key-required");
        assertTrue(String.valueOf(refused.header("Link")).contains(GUIDE));
        assertTrue(refused.has("spec"), refused.body());
        started(admin().trigger("needs_key", stage.key(), data("")));
    }

    @Test
    void row_10_the_same_payload_under_another_key_is_a_policy() {
        admin().publish(keyed("reject_twins", "duplicate_payload: reject, fingerprint: [order]"))
                .expect(200);
        admin().publish(keyed("flag_twins", "duplicate_payload: flag, fingerprint: [order]"))
                .expect(200);
        Reply first = admin().trigger("reject_twins", stage.key(), data("\"order\": 7"));
        String second = stage.key();
        Reply refused = admin().trigger("reject_twins", second, data("\"order\": 7"));
        Problem.expect(refused, 409, "duplicate-payload");
        assertEquals("false", refused.header("x-should-retry"));
        assertNull(refused.header("Retry-After"));
        assertFalse(refused.flag("retryable"));
        assertEquals(first.runId(), refused.runId());
        assertEquals(second, refused.text("idempotency_key"));
        started(admin().trigger("reject_twins", second, data("\"order\": 8")));

        Reply original = admin().trigger("flag_twins", stage.key(), data("\"order\": 7"));
        Reply flagged = admin().trigger("flag_twins", stage.key(), data("\"order\": 7"));
        assertEquals("false", String.valueOf(flagged.json().get("idempotent_replayed")));
        assertEquals(original.runId(), flagged.text("duplicate_of"));
        assertEquals(
                original.runId(), admin().get("/v1/runs/" + flagged.runId()).text("duplicate_of"));
        assertFalse(admin().trigger(plain(), stage.key(), data("")).has("duplicate_of"));
    }

    @Test
    void row_11_what_is_not_valid_is_400_with_pointers_and_the_key_stays_free() {
        admin().publish(flow("typed", "input: { amount: { type: integer, required: true } }"))
                .expect(200);
        String key = stage.key();
        for (String bad :
                new String[] {"{\"data\": ", "[1]", "{\"data\": 5}", "nope", data("\"amount\": \"x\""), data("")}) {
            Problem.expect(admin().trigger("typed", key, bad), 400, "invalid-input");
        }
        Reply twice = admin().trigger("typed", key, "{\"data\": {\"amount\": 1, \"amount\": 2}}");
        assertEquals(
                "/data/amount", Problem.check(twice).at("/errors/0/pointer").asString());
        Reply violated = admin().trigger("typed", key, data("\"amount\": \"x\""));
        assertEquals(
                "/data/amount", Problem.check(violated).at("/errors/0/pointer").asString());
        started(admin().trigger("typed", key, data("\"amount\": 1")));
    }

    @Test
    void row_12_too_large_is_413_and_another_type_is_415_and_the_key_stays_free() {
        String key = stage.key();
        String large = data("\"a\": \"" + "x".repeat(1 << 20) + "\"");
        Problem.expect(admin().trigger(plain(), key, large), 413, "payload-too-large");
        for (String type :
                new String[] {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"}) {
            Reply reply = admin().send("POST", trigger(plain()), data(""), key(key), "Content-Type: " + type);
            Problem.expect(reply, 415, "unsupported-media-type");
        }
        Problem.expect(admin().send("POST", trigger(plain()), data(""), key(key)), 415, "unsupported-media-type");
        started(admin().trigger(plain(), key, data("\"a\": \"" + "x".repeat(1 << 19) + "\"")));
    }

    @Test
    void row_13_no_credential_is_401_a_missing_scope_is_403_and_the_key_stays_free() {
        String key = stage.key();
        for (Caller caller :
                new Caller[] {stage.server().stranger(), stage.server().as("wrong")}) {
            Reply reply = caller.trigger(plain(), key, data(""));
            Problem.expect(reply, 401, "unauthenticated");
            assertTrue(String.valueOf(reply.header("WWW-Authenticate")).startsWith("Bearer "), reply::toString);
        }
        Reply forbidden =
                stage.server().with("read", "operate", "review", "admin").trigger(plain(), key, data(""));
        assertEquals("trigger", Problem.expect(forbidden, 403, "forbidden").text("scope"));
        started(admin().trigger(plain(), key, data("")));
    }

    @Test
    void row_14_an_unknown_workflow_and_one_of_another_workspace_are_the_same_404() {
        Caller other = stage.server().as(stage.server().token("\"workspace\":\"row-fourteen\"", "trigger", "admin"));
        other.publish(flow("hidden")).expect(200);
        String key = stage.key();
        Reply unknown = Problem.expect(admin().trigger("nothing_here", key, data("")), 404, "not-found");
        Reply foreign = Problem.expect(admin().trigger("hidden", key, data("")), 404, "not-found");
        String id = other.trigger("hidden", key, data("")).text("workflow_id");
        Reply byId = Problem.expect(admin().trigger(id, key, data("")), 404, "not-found");
        assertEquals(withoutInstance(unknown), withoutInstance(foreign));
        assertEquals(withoutInstance(unknown), withoutInstance(byId));
        started(admin().trigger(plain(), key, data("")));
    }

    @Test
    void row_15_over_quota_is_429_with_the_time_to_wait_and_the_key_stays_free_and_replays_have_their_own() {
        Caller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        String key = stage.key();
        Reply first = small.trigger(plain(), key, data(""));
        String late = stage.key();
        Reply refused = Problem.expect(small.trigger(plain(), late, data("")), 429, "over-quota");
        assertTrue(refused.flag("retryable"));
        int wait = Integer.parseInt(String.valueOf(refused.header("Retry-After")));
        assertTrue(wait >= 1 && wait <= 60, refused::toString);
        assertEquals("\"fresh\";r=0;t=" + wait, refused.header("RateLimit"));
        assertEquals("\"fresh\";q=1;w=60", refused.header("RateLimit-Policy"));
        for (int i = 0; i < 10; i++) {
            replay(first, small.trigger(plain(), key, data("")));
        }
        Reply tired = Problem.expect(small.trigger(plain(), key, data("")), 429, "over-quota");
        assertEquals("\"replay\";q=10;w=60", tired.header("RateLimit-Policy"));
        assertFalse(tired.text("detail").contains("free"), tired.body());
        started(admin().trigger(plain(), late, data("")));
    }

    @Test
    void the_first_answer_has_exactly_the_members_of_the_contract() {
        Reply reply = admin().trigger(plain(), stage.key(), data(""));
        assertEquals(
                Set.of("run_id", "status", "workflow_id", "idempotent_replayed"),
                new TreeSet<>(reply.json().propertyNames()));
        assertTrue(reply.runId().startsWith("run_"), reply.body());
        assertTrue(reply.text("workflow_id").startsWith("wf_"), reply.body());
        Reply byId = admin().trigger(reply.text("workflow_id"), stage.key(), data(""));
        assertEquals(reply.text("workflow_id"), byId.text("workflow_id"));
    }

    private Caller admin() {
        return stage.admin();
    }

    private String plain() {
        admin().publish(flow("plain")).expect(200);
        return "plain";
    }

    private static String trigger(String workflow) {
        return "/v1/workflows/" + workflow + "/trigger";
    }

    private static String key(String key) {
        return "Idempotency-Key: " + key;
    }

    private static Instant expiry(Reply reply) {
        return ZonedDateTime.parse(
                        String.valueOf(reply.header("Idempotency-Expires")), DateTimeFormatter.RFC_1123_DATE_TIME)
                .toInstant();
    }

    private static String withoutInstance(Reply reply) {
        return reply.body().replaceAll("urn:uuid:[0-9a-f-]+", "");
    }
}
