package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.failing;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** How long a key holds, and what comes after: expiry, release, a failed run, a new version. */
class KeyWindowTest extends OnBothStores {
    KeyWindowTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void row_7_an_expired_key_starts_a_new_run_that_names_the_previous_one() {
        admin().publish(keyed("short", "window: 1s")).expect(200);
        String key = stage.key();
        HttpReply first = ran("short", key, data("\"a\": 1"));
        untilStatus(key, "expired");
        HttpReply second = started(admin().trigger("short", key, data("\"a\": 2")));
        assertNotEquals(first.runId(), second.runId());
        assertEquals(first.runId(), second.text("previous_run_id"));
        assertEquals(key, second.header("Idempotency-Key"));
        assertEquals(first.runId(), run(second).text("previous_run_id"));
        assertNotEquals(run(first).text("lineage_id"), run(second).text("lineage_id"));
        assertTrue(counter("semel_triggers_expired_key") >= 1);
    }

    @Test
    void the_key_of_an_unfinished_run_does_not_expire() {
        admin().publish(keyed("held", "window: 1s")).expect(200);
        admin().post("/v1/workflows/held/pause", "{}").expect(200);
        String key = stage.key();
        HttpReply first = fresh(admin().trigger("held", key, data("")));
        assertEquals("queued", first.text("status"));
        untilPast(admin().get("/v1/keys/" + key).text("expires_at"));
        assertEquals("active", admin().get("/v1/keys/" + key).text("status"));
        assertEquals(
                "queued", replay(first, admin().trigger("held", key, data(""))).text("status"));
        admin().post("/v1/workflows/held/resume", "{}").expect(200);
        untilStatus(key, "expired");
        assertEquals(
                first.runId(), started(admin().trigger("held", key, data(""))).text("previous_run_id"));
    }

    @Test
    void the_key_of_an_unfinished_run_expires_if_declared() {
        admin().publish(keyed("letter", "window: 1s, hold_while_running: false"))
                .expect(200);
        admin().post("/v1/workflows/letter/pause", "{}").expect(200);
        String key = stage.key();
        HttpReply first = fresh(admin().trigger("letter", key, data("")));
        untilStatus(key, "expired");
        assertEquals(
                first.runId(), fresh(admin().trigger("letter", key, data(""))).text("previous_run_id"));
        admin().post("/v1/workflows/letter/resume", "{}").expect(200);
    }

    @Test
    void a_released_key_is_fresh_immediately_and_the_release_is_audited() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        HttpReply first = ran("plain", key, data(""));
        for (String bad : new String[] {
            "{}", "{\"reason\": \" \"}", "{\"reason\": 5}", "{\"reason\": \"" + "r".repeat(501) + "\"}"
        }) {
            ProblemResponseChecks.expect(admin().post("/v1/keys/" + key + "/release", bad), 400, "invalid-input");
        }
        replay(first, admin().trigger("plain", key, data("")));
        HttpReply released = admin().post("/v1/keys/" + key + "/release", "{\"reason\": \"sent twice on purpose\"}");
        assertTrue(released.expect(200).flag("released"), released.body());
        assertEquals(first.runId(), released.runId());
        assertEquals("released", admin().get("/v1/keys/" + key).text("status"));
        HttpReply second = started(admin().trigger("plain", key, data("")));
        assertEquals(first.runId(), second.text("previous_run_id"));
        assertNotEquals(run(first).text("lineage_id"), run(second).text("lineage_id"));
        replay(second, admin().trigger("plain", key, data("")));
        String audit = admin().get("/v1/audit").expect(200).body();
        assertTrue(audit.contains("sent twice on purpose"), audit);
        ProblemResponseChecks.expect(
                admin().post("/v1/keys/never-used/release", "{\"reason\": \"r\"}"), 404, "not-found");
    }

    @Test
    void a_failed_run_is_returned_as_failed() {
        admin().publish(failing("fails")).expect(200);
        String key = stage.key();
        HttpReply first = ended("fails", key, data(""));
        assertEquals("failed", first.text("status"));
        assertEquals("second", first.json().at("/error/step").asString());
        assertFalse(first.json().get("error").toString().contains(ServerFixture.CANARY), first.body());
        assertEquals(
                "failed", replay(first, admin().trigger("fails", key, data(""))).text("status"));
        String summary = admin().get("/v1/keys/" + key).text("error_summary");
        assertTrue(summary.contains("second") && !summary.contains(ServerFixture.CANARY), summary);
    }

    @Test
    void a_failed_run_runs_again_in_its_lineage_if_declared() {
        admin().publish(failing("again", "idempotency: { on_failed: run_again }"))
                .expect(200);
        String key = stage.key();
        HttpReply first = ended("again", key, data(""));
        assertEquals("failed", first.text("status"));
        HttpReply second = started(admin().trigger("again", key, data("")));
        assertNotEquals(first.runId(), second.runId());
        assertEquals(first.runId(), second.text("previous_run_id"));
        assertEquals(run(first).text("lineage_id"), run(second).text("lineage_id"));
    }

    @Test
    void publishing_another_policy_never_turns_an_honest_retry_into_a_conflict() {
        admin().publish(keyed("evolves", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        HttpReply first = started(admin().trigger("evolves", key, data("\"a\": 1, \"b\": 1")));
        for (String policy : new String[] {
            "fingerprint: [a, b]",
            "on_mismatch: distinct",
            "scope: workflow",
            "fingerprint: [b], scope: workflow",
            "on_mismatch: reject"
        }) {
            admin().publish(keyed("evolves", policy)).expect(200);
            replay(first, admin().trigger("evolves", key, data("\"a\": 1, \"b\": 2")));
            ProblemResponseChecks.expect(
                    admin().trigger("evolves", key, data("\"a\": 2, \"b\": 1")), 422, "idempotency-key-conflict");
        }
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply run(HttpReply reply) {
        return admin().get("/v1/runs/" + reply.runId()).expect(200);
    }

    /** The first answer of a trigger whose run has ended by now. */
    private HttpReply ran(String workflow, String key, String body) {
        HttpReply first = started(admin().trigger(workflow, key, body));
        ended(workflow, key, body);
        return first;
    }

    /** The answer of one who waited for the end. */
    private HttpReply ended(String workflow, String key, String body) {
        return admin().post("/v1/workflows/" + workflow + "/trigger?wait=60s", body, "Idempotency-Key: " + key)
                .expect(200);
    }

    private void untilStatus(String key, String status) {
        ConcurrentCalls.until(
                "key is " + status,
                () -> admin().get("/v1/keys/" + key).text("status").equals(status));
    }

    /** Both stores go by this machine's clock. */
    private void untilPast(String time) {
        Instant end = Instant.parse(time).plus(Duration.ofMillis(100));
        ConcurrentCalls.until("it is later than " + time, () -> {
            admin().get("/healthz").expect(200);
            return Instant.now().isAfter(end);
        });
    }

    private double counter(String name) {
        return admin().get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name) && !line.startsWith("#"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
