package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;

/** Run ids that the caller chooses: by PUT, in the body, beside a key. */
class ChosenRunIdTest extends OnBothStores {
    ChosenRunIdTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void put_starts_the_run_with_this_id_and_put_again_returns_it() {
        String path = plain() + "/runs/order-17";
        HttpReply first = started(admin().put(path, data("\"a\": 1")));
        assertEquals("order-17", first.runId());
        assertNull(first.header("Idempotency-Key"));
        assertNull(first.header("Idempotency-Expires"));
        replay(first, admin().put(path, data("\"a\": 1")));
        HttpReply loud = replay(first, admin().put(path, data("\"a\": 2")));
        assertTrue(loud.flag("payload_mismatch"), loud.body());
        conflict("payload", first, admin().put(path, data("\"a\": 2"), "Prefer: handling=strict"));
        assertEquals("order-17", admin().get("/v1/runs/order-17").expect(200).runId());
        assertEquals(200, admin().get("/v1/runs/order-17/timeline").status());
        assertEquals(
                1,
                admin().get("/v1/runs/order-17/requests")
                        .json()
                        .get("conflicts")
                        .asInt());
    }

    @Test
    void the_id_may_be_in_the_body() {
        plain();
        HttpReply first = started(admin().unkeyed("plain", "{\"data\": {}, \"run_id\": \"in-the-body\"}"));
        assertEquals("in-the-body", first.runId());
        replay(first, admin().unkeyed("plain", "{\"data\": {}, \"run_id\": \"in-the-body\"}"));
        replay(first, admin().put("/v1/workflows/plain/runs/in-the-body", "{\"data\": {}}"));
        HttpReply two = admin().put("/v1/workflows/plain/runs/in-the-path", "{\"run_id\": \"in-the-body\"}");
        assertEquals(
                "/run_id",
                ProblemResponseChecks.expect(two, 400, "invalid-input")
                        .json()
                        .at("/errors/0/pointer")
                        .asString());
    }

    @Test
    void the_id_of_another_workflow_is_422() {
        plain();
        admin().publish(flow("elsewhere")).expect(200);
        HttpReply first = started(admin().put("/v1/workflows/plain/runs/taken", data("")));
        conflict("workflow", first, admin().put("/v1/workflows/elsewhere/runs/taken", data("")));
    }

    @Test
    void a_generated_id_is_known_as_well() {
        plain();
        HttpReply first = started(admin().unkeyed("plain", data("")));
        HttpReply again = admin().put("/v1/workflows/plain/runs/" + first.runId(), data(""));
        replay(first, again);
    }

    @Test
    void the_run_is_returned_independent_of_the_key_window() {
        admin().publish(keyed("brief", "window: 1s")).expect(200);
        String key = stage.key();
        String body = "{\"data\": {}, \"run_id\": \"outlives\"}";
        HttpReply first = started(admin().trigger("brief", key, body));
        ConcurrentCalls.until(
                "expired", () -> admin().get("/v1/keys/" + key).text("status").equals("expired"));
        HttpReply again = admin().put("/v1/workflows/brief/runs/outlives", "{\"data\": {}}");
        assertEquals(first.runId(), again.expect(200).runId());
        assertTrue(again.flag("idempotent_replayed"));
    }

    @Test
    void a_key_and_an_id_of_different_runs_are_422_and_store_nothing() {
        plain();
        String key = stage.key();
        HttpReply byKey = started(admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"with-key\"}"));
        replay(byKey, admin().trigger("plain", key, "{\"data\": {}}"));
        HttpReply byId = started(admin().put("/v1/workflows/plain/runs/alone", data("")));
        String before = stage.rows();
        conflict("run_id", byKey, admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"never-seen\"}"));
        conflict("run_id", byKey, admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"alone\"}"));
        assertEquals(before, stage.rows());
        assertEquals("alone", byId.runId());
        ProblemResponseChecks.expect(admin().get("/v1/runs/never-seen"), 404, "not-found");
        started(admin().put("/v1/workflows/plain/runs/never-seen", data("")));
    }

    @Test
    void a_new_key_with_a_known_id_returns_the_run_and_the_key_stays_free() {
        plain();
        HttpReply first = started(admin().put("/v1/workflows/plain/runs/known", "{\"data\": {}}"));
        String key = stage.key();
        HttpReply again = admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"known\"}")
                .expect(200);
        assertEquals(first.runId(), again.runId());
        assertTrue(again.flag("idempotent_replayed"));
        ProblemResponseChecks.expect(admin().get("/v1/keys/" + key), 404, "not-found");
        started(admin().trigger("plain", key, "{\"data\": {}}"));
    }

    @Test
    void an_id_outside_the_alphabet_is_400() {
        plain();
        for (String id : new String[] {"with%20space", "a%2Fb", "%C3%A9", "x".repeat(129), "%00"}) {
            ProblemResponseChecks.expect(admin().put("/v1/workflows/plain/runs/" + id, data("")), 400, "invalid-input");
        }
        for (String id : new String[] {"\"with space\"", "\"a/b\"", "\"\"", "\"\\u00e9\"", "5", "\"\\u0000\""}) {
            ProblemResponseChecks.expect(admin().unkeyed("plain", "{\"run_id\": " + id + "}"), 400, "invalid-input");
        }
        started(admin().put("/v1/workflows/plain/runs/" + "x".repeat(128), data("")));
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String plain() {
        admin().publish(flow("plain")).expect(200);
        return "/v1/workflows/plain";
    }
}
