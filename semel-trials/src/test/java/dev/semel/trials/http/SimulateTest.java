package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.failing;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;

/** What a simulation says is what the same trigger then does; and until it does, nothing has changed. */
class SimulateTest extends OnBothStores {
    SimulateTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply simulated(String key, String workflow, String body) {
        return admin().post("/v1/keys/" + key + "/simulate?workflow=" + workflow, body)
                .expect(200);
    }

    /** Simulates it twice, does it, and compares. */
    private HttpReply kept(String outcome, String key, String workflow, String body) {
        HttpReply reply = simulated(key, workflow, body);
        assertEquals(outcome, reply.text("outcome"), reply.body());
        assertEquals(outcome, simulated(key, workflow, body).text("outcome"), "a simulation changes nothing");
        HttpReply real = admin().trigger(workflow, key, body);
        assertEquals(reply.json().path("status_code").asInt(), real.status(), reply.body() + " " + real.body());
        switch (outcome) {
            case "new_run" -> {
                assertFalse(real.flag("idempotent_replayed"));
                assertEquals(previous(reply), previous(real));
            }
            case "replayed" -> {
                assertTrue(real.flag("idempotent_replayed"));
                assertEquals(reply.runId(), real.runId());
                assertEquals(reply.flag("payload_mismatch"), real.flag("payload_mismatch"));
            }
            case "conflict" -> {
                assertEquals(reply.runId(), real.runId());
                assertEquals(reply.text("reason"), real.text("reason"));
                assertEquals(
                        reply.json().path("changed").valueStream().toList(),
                        real.json().path("changed").valueStream().toList());
            }
            case "rejected" -> assertEquals(reply.text("reason"), real.text("code"));
            default -> assertEquals(reply.runId(), real.runId());
        }
        return real;
    }

    private static String previous(HttpReply reply) {
        return reply.json().path("previous_run_id").asString("");
    }

    private void ended(String workflow, String key) {
        String run = admin().get("/v1/keys/" + key).text("run_id");
        ConcurrentCalls.until(
                "the run of " + workflow + " has ended",
                () -> !admin().get("/v1/runs/" + run)
                        .json()
                        .path("ended_at")
                        .asString("")
                        .isEmpty());
    }

    @Test
    void first_replay_conflict_and_another_workflow() {
        admin().publish(keyed("strict", "fingerprint: [amount]")).expect(200);
        admin().publish(keyed("other", "window: 1h")).expect(200);
        String key = stage.key();
        HttpReply first = kept("new_run", key, "strict", data("\"amount\": 1"));
        assertEquals(
                first.runId(),
                kept("replayed", key, "strict", data("\"amount\": 1")).runId());
        kept("conflict", key, "strict", data("\"amount\": 2"));
        kept("conflict", key, "other", data("\"amount\": 1"));
    }

    @Test
    void a_flagged_duplicate_a_distinct_key_and_a_repeated_payload() {
        admin().publish(keyed("loud", "window: 1h")).expect(200);
        String loud = stage.key();
        kept("new_run", loud, "loud", data("\"a\": 1"));
        kept("replayed", loud, "loud", data("\"a\": 2"));
        admin().publish(keyed("apart", "on_mismatch: distinct")).expect(200);
        String apart = stage.key();
        kept("new_run", apart, "apart", data("\"a\": 1"));
        kept("new_run", apart, "apart", data("\"a\": 2"));
        kept("replayed", apart, "apart", data("\"a\": 1"));
        admin().publish(keyed("single", "duplicate_payload: reject")).expect(200);
        String body = data("\"a\": \"" + stage.key() + "\"");
        kept("new_run", stage.key(), "single", body);
        kept("duplicate_payload", stage.key(), "single", body);
    }

    @Test
    void expired_released_and_failed_keys_start_new_runs() {
        admin().publish(keyed("short", "window: 1s")).expect(200);
        String key = stage.key();
        HttpReply first = kept("new_run", key, "short", data(""));
        ended("short", key);
        ConcurrentCalls.until(
                "it is expired",
                () -> admin().get("/v1/keys/" + key).text("status").equals("expired"));
        HttpReply second = kept("new_run", key, "short", data(""));
        assertEquals(first.runId(), second.text("previous_run_id"));

        admin().publish(keyed("long", "window: 1h")).expect(200);
        String released = stage.key();
        HttpReply before = kept("new_run", released, "long", data(""));
        ended("long", released);
        String release = "/v1/keys/" + released + "/release";
        HttpReply dry = admin().post(release + "?dry_run=true", "{\"reason\":\"a look\"}")
                .expect(200);
        assertFalse(dry.flag("released"));
        kept("replayed", released, "long", data(""));
        admin().post(release, "{\"reason\":\"again\"}").expect(200);
        assertNotEquals(
                before.runId(), kept("new_run", released, "long", data("")).runId());

        admin().publish(failing("again", "idempotency: { on_failed: run_again }"))
                .expect(200);
        String failed = stage.key();
        kept("new_run", failed, "again", data(""));
        ended("again", failed);
        kept("new_run", failed, "again", data(""));
    }

    @Test
    void a_later_trigger_is_predicted_by_the_window() {
        admin().publish(keyed("day", "window: 24h")).expect(200);
        String key = stage.key();
        HttpReply first = admin().trigger("day", key, data("")).expect(200);
        ended("day", key);
        assertEquals("replayed", simulated(key, "day", "{\"after\":\"23h\"}").text("outcome"));
        HttpReply later = simulated(key, "day", "{\"after\":\"25h\"}");
        assertEquals("new_run", later.text("outcome"));
        assertEquals("expired", later.text("reason"));
        assertEquals(first.runId(), later.text("previous_run_id"));
        String extend = "/v1/keys/" + key + "/extend";
        admin().post(extend, "{\"for\":\"48h\",\"reason\":\"slow retries\"}").expect(200);
        assertEquals("replayed", simulated(key, "day", "{\"after\":\"25h\"}").text("outcome"));
        admin().post(extend, "{\"for\":\"48h\"}").expect(400);
        assertTrue(admin().get("/v1/audit").body().contains("key.extend"));
        HttpReply story = admin().get("/v1/keys/" + key).expect(200);
        assertTrue(story.json().path("history").size() >= 3, story.body());
        assertEquals("replayed", story.json().path("simulation").path("outcome").asString());
    }

    @Test
    void data_that_a_fresh_trigger_would_be_rejected_for_are_reported() {
        admin().publish(keyed("typed", "window: 1h") + "input: { amount: { type: integer, required: true } }\n")
                .expect(200);
        kept("rejected", stage.key(), "typed", data("\"amount\": \"x\""));
        assertEquals(
                404, admin().post("/v1/keys/k/simulate?workflow=nowhere", "{}").status());
        assertEquals(
                400, admin().post("/v1/keys/" + stage.key() + "/simulate", "{}").status());
    }
}
