package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
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

    TriggerContractTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void row_1_without_a_key_every_request_starts_a_run() {
        HttpReply first = admin().unkeyed(plain(), data(""));
        HttpReply second = admin().unkeyed(plain(), data(""));
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
        HttpReply reply = admin().trigger(plain(), key, data(""));
        started(reply);
        assertEquals(key, reply.header("Idempotency-Key"));
        Duration window = Duration.between(before, expiry(reply));
        assertTrue(window.compareTo(Duration.ofHours(24).minusSeconds(2)) > 0, window::toString);
        assertTrue(window.compareTo(Duration.ofHours(25)) < 0, window::toString);
        assertNull(reply.header("X-Idempotent-Replayed"));
        assertNull(reply.header("Idempotent-Replayed"));
    }

    @Test
    void row_3_a_known_key_returns_the_same_run_and_its_live_status() {
        String key = stage.key();
        HttpReply first = admin().trigger(plain(), key, data("\"a\": 1"));
        HttpReply waited = replay(first, admin().post(trigger(plain()) + "?wait=60s", data("\"a\": 1"), key(key)));
        assertEquals("completed", waited.text("status"));
        HttpReply last = replay(first, admin().trigger(plain(), key, data("\"a\": 1.0")));
        assertEquals("completed", last.text("status"));
        assertFalse(last.has("payload_mismatch"));
        assertNull(last.header("X-Idempotency-Payload-Mismatch"));
        assertEquals(first.header("Idempotency-Expires"), last.header("Idempotency-Expires"));
    }

    @Test
    void row_4a_another_payload_is_a_flagged_duplicate_if_the_key_alone_decides() {
        String key = stage.key();
        HttpReply first = admin().trigger(plain(), key, data("\"amount\": 1"));
        HttpReply other = replay(first, admin().trigger(plain(), key, data("\"amount\": 2")));
        assertEquals("true", other.header("X-Idempotency-Payload-Mismatch"));
        assertTrue(other.flag("payload_mismatch"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
    }

    @Test
    void row_4b_another_payload_is_422_with_a_declared_fingerprint() {
        admin().publish(keyed("declared", "fingerprint: [payment_id, amount]")).expect(200);
        String key = stage.key();
        HttpReply first = admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 1"));
        HttpReply other = admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 2"));
        assertEquals(key, conflict("payload", first, other).text("idempotency_key"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
        replay(first, admin().trigger("declared", key, data("\"payment_id\": \"p\", \"amount\": 1, \"noise\": 5")));
    }

    @Test
    void row_4b_strict_handling_is_422_for_any_workflow_and_reported_as_applied() {
        String key = stage.key();
        HttpReply first = admin().trigger(plain(), key, data("\"amount\": 1"), "Prefer: handling=strict");
        assertEquals("handling=strict", first.header("Preference-Applied"));
        HttpReply other = admin().trigger(plain(), key, data("\"amount\": 2"), "Prefer: handling=strict");
        assertEquals(key, conflict("payload", first, other).text("idempotency_key"));
        assertEquals("[\"amount\"]", other.json().get("changed").toString());
        HttpReply same = admin().trigger(plain(), key, data("\"amount\": 1"), "Prefer: handling=strict");
        assertEquals("handling=strict", replay(first, same).header("Preference-Applied"));
        assertTrue(admin().trigger(plain(), key, data("\"amount\": 2")).flag("payload_mismatch"));
    }

    @Test
    void row_4c_another_payload_is_another_run_if_the_fingerprint_is_part_of_the_key() {
        admin().publish(keyed("distinct", "on_mismatch: distinct, fingerprint: [text]"))
                .expect(200);
        String key = stage.key();
        HttpReply first = admin().trigger("distinct", key, data("\"text\": \"a\""));
        HttpReply other = admin().trigger("distinct", key, data("\"text\": \"b\""));
        started(other);
        assertNotEquals(first.runId(), other.runId());
        assertEquals(key, other.header("Idempotency-Key"));
        assertNotNull(other.header("Idempotency-Expires"));
        replay(first, admin().trigger("distinct", key, data("\"text\": \"a\"")));
        replay(other, admin().trigger("distinct", key, data("\"text\": \"b\"")));
    }

    @Test
    void row_4_on_mismatch_overrides_the_fingerprint_default() {
        admin().publish(keyed("loud", "on_mismatch: replay, fingerprint: [a]")).expect(200);
        admin().publish(keyed("hard", "on_mismatch: reject")).expect(200);
        String key = stage.key();
        HttpReply loud = admin().trigger("loud", key, data("\"a\": 1"));
        assertTrue(replay(loud, admin().trigger("loud", key, data("\"a\": 2"))).flag("payload_mismatch"));
        String other = stage.key();
        HttpReply hard = admin().trigger("hard", other, data("\"a\": 1"));
        conflict("payload", hard, admin().trigger("hard", other, data("\"a\": 2")));
    }

    @Test
    void row_5_the_key_of_another_workflow_is_422_and_says_how_to_share_it() {
        admin().publish(flow("elsewhere")).expect(200);
        String key = stage.key();
        HttpReply first = admin().trigger(plain(), key, data(""));
        HttpReply other = admin().trigger("elsewhere", key, data(""));
        assertEquals(key, conflict("workflow", first, other).text("idempotency_key"));
        assertTrue(other.text("fix").contains("scope: workflow"), other.body());
    }

    @Test
    void row_5_does_not_apply_if_the_scope_is_the_workflow() {
        admin().publish(keyed("fan_one", "scope: workflow")).expect(200);
        admin().publish(keyed("fan_two", "scope: workflow")).expect(200);
        String key = stage.key();
        HttpReply wide = admin().trigger(plain(), key, data(""));
        HttpReply one = admin().trigger("fan_one", key, data(""));
        HttpReply two = admin().trigger("fan_two", key, data(""));
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
            HttpReply reply = admin().send("POST", trigger(plain()), data(""), "Content-Type: application/json", line);
            ProblemResponseChecks.expect(reply, 400, "idempotency-key-invalid");
            assertTrue(reply.text("spec").contains("draft-ietf-httpapi-idempotency-key-header-07"), reply.body());
            assertFalse(reply.flag("retryable"));
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void row_9_a_required_key_that_is_missing_is_400() {
        admin().publish(flow("needs_key", "trigger: { http: { require_key: true } }"))
                .expect(200);
        HttpReply refused = admin().unkeyed("needs_key", data(""));
        ProblemResponseChecks.expect(refused, 400, "idempotency-key-required");
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
        HttpReply first = admin().trigger("reject_twins", stage.key(), data("\"order\": 7"));
        String second = stage.key();
        HttpReply refused = admin().trigger("reject_twins", second, data("\"order\": 7"));
        ProblemResponseChecks.expect(refused, 409, "duplicate-payload");
        assertEquals("false", refused.header("x-should-retry"));
        assertNull(refused.header("Retry-After"));
        assertFalse(refused.flag("retryable"));
        assertEquals(first.runId(), refused.runId());
        assertEquals(second, refused.text("idempotency_key"));
        started(admin().trigger("reject_twins", second, data("\"order\": 8")));

        HttpReply original = admin().trigger("flag_twins", stage.key(), data("\"order\": 7"));
        HttpReply flagged = admin().trigger("flag_twins", stage.key(), data("\"order\": 7"));
        assertEquals("false", String.valueOf(flagged.json().get("idempotent_replayed")));
        assertEquals(original.runId(), flagged.text("duplicate_of"));
        assertEquals(
                original.runId(), admin().get("/v1/runs/" + flagged.runId()).text("duplicate_of"));
        assertFalse(admin().trigger(plain(), stage.key(), data("")).has("duplicate_of"));
    }

    @Test
    void row_11_an_invalid_input_is_400_with_pointers_and_the_key_stays_free() {
        admin().publish(flow("typed", "input: { amount: { type: integer, required: true } }"))
                .expect(200);
        String key = stage.key();
        for (String bad :
                new String[] {"{\"data\": ", "[1]", "{\"data\": 5}", "nope", data("\"amount\": \"x\""), data("")}) {
            ProblemResponseChecks.expect(admin().trigger("typed", key, bad), 400, "invalid-input");
        }
        HttpReply twice = admin().trigger("typed", key, "{\"data\": {\"amount\": 1, \"amount\": 2}}");
        assertEquals(
                "/data/amount",
                ProblemResponseChecks.check(twice).at("/errors/0/pointer").asString());
        HttpReply violated = admin().trigger("typed", key, data("\"amount\": \"x\""));
        assertEquals(
                "/data/amount",
                ProblemResponseChecks.check(violated).at("/errors/0/pointer").asString());
        started(admin().trigger("typed", key, data("\"amount\": 1")));
    }

    @Test
    void row_12_too_large_is_413_and_another_type_is_415_and_the_key_stays_free() {
        String key = stage.key();
        String large = data("\"a\": \"" + "x".repeat(1 << 20) + "\"");
        ProblemResponseChecks.expect(admin().trigger(plain(), key, large), 413, "payload-too-large");
        for (String type :
                new String[] {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"}) {
            HttpReply reply = admin().send("POST", trigger(plain()), data(""), key(key), "Content-Type: " + type);
            ProblemResponseChecks.expect(reply, 415, "unsupported-media-type");
        }
        ProblemResponseChecks.expect(
                admin().send("POST", trigger(plain()), data(""), key(key)), 415, "unsupported-media-type");
        started(admin().trigger(plain(), key, data("\"a\": \"" + "x".repeat(1 << 19) + "\"")));
    }

    @Test
    void row_13_no_credential_is_401_a_missing_scope_is_403_and_the_key_stays_free() {
        String key = stage.key();
        for (ApiCaller caller :
                new ApiCaller[] {stage.server().stranger(), stage.server().as("wrong")}) {
            HttpReply reply = caller.trigger(plain(), key, data(""));
            ProblemResponseChecks.expect(reply, 401, "unauthenticated");
            assertTrue(String.valueOf(reply.header("WWW-Authenticate")).startsWith("Bearer "), reply::toString);
        }
        HttpReply forbidden =
                stage.server().with("read", "operate", "review", "admin").trigger(plain(), key, data(""));
        assertEquals(
                "trigger",
                ProblemResponseChecks.expect(forbidden, 403, "forbidden").text("scope"));
        started(admin().trigger(plain(), key, data("")));
    }

    @Test
    void row_14_an_unknown_workflow_and_one_of_another_workspace_are_the_same_404() {
        ApiCaller other = stage.server().as(stage.server().token("\"workspace\":\"row-fourteen\"", "trigger", "admin"));
        other.publish(flow("hidden")).expect(200);
        String key = stage.key();
        HttpReply unknown =
                ProblemResponseChecks.expect(admin().trigger("nothing_here", key, data("")), 404, "not-found");
        HttpReply foreign = ProblemResponseChecks.expect(admin().trigger("hidden", key, data("")), 404, "not-found");
        String id = other.trigger("hidden", key, data("")).text("workflow_id");
        HttpReply byId = ProblemResponseChecks.expect(admin().trigger(id, key, data("")), 404, "not-found");
        assertEquals(withoutInstance(unknown), withoutInstance(foreign));
        assertEquals(withoutInstance(unknown), withoutInstance(byId));
        started(admin().trigger(plain(), key, data("")));
    }

    @Test
    void row_15_over_quota_is_429_with_retry_after_and_duplicates_have_their_own_quota() {
        ApiCaller small = stage.server().as(stage.server().token("\"quota_per_minute\": 1", "trigger"));
        String key = stage.key();
        HttpReply first = small.trigger(plain(), key, data(""));
        String late = stage.key();
        HttpReply refused = ProblemResponseChecks.expect(small.trigger(plain(), late, data("")), 429, "over-quota");
        assertTrue(refused.flag("retryable"));
        int wait = Integer.parseInt(String.valueOf(refused.header("Retry-After")));
        assertTrue(wait >= 1 && wait <= 60, refused::toString);
        assertEquals("\"fresh\";r=0;t=" + wait, refused.header("RateLimit"));
        assertEquals("\"fresh\";q=1;w=60", refused.header("RateLimit-Policy"));
        for (int i = 0; i < 10; i++) {
            replay(first, small.trigger(plain(), key, data("")));
        }
        HttpReply tired = ProblemResponseChecks.expect(small.trigger(plain(), key, data("")), 429, "over-quota");
        assertEquals("\"replay\";q=10;w=60", tired.header("RateLimit-Policy"));
        assertFalse(tired.text("detail").contains("free"), tired.body());
        started(admin().trigger(plain(), late, data("")));
    }

    @Test
    void the_first_response_has_exactly_the_members_of_the_contract() {
        HttpReply reply = admin().trigger(plain(), stage.key(), data(""));
        assertEquals(
                Set.of("run_id", "status", "workflow_id", "idempotent_replayed"),
                new TreeSet<>(reply.json().propertyNames()));
        assertTrue(reply.runId().startsWith("run_"), reply.body());
        assertTrue(reply.text("workflow_id").startsWith("wf_"), reply.body());
        HttpReply byId = admin().trigger(reply.text("workflow_id"), stage.key(), data(""));
        assertEquals(reply.text("workflow_id"), byId.text("workflow_id"));
    }

    private ApiCaller admin() {
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

    private static Instant expiry(HttpReply reply) {
        return ZonedDateTime.parse(
                        String.valueOf(reply.header("Idempotency-Expires")), DateTimeFormatter.RFC_1123_DATE_TIME)
                .toInstant();
    }

    private static String withoutInstance(HttpReply reply) {
        return reply.body().replaceAll("urn:uuid:[0-9a-f-]+", "");
    }
}
