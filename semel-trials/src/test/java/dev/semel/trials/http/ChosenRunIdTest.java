package dev.semel.trials.http;

import static dev.semel.trials.support.Flows.data;
import static dev.semel.trials.support.Flows.flow;
import static dev.semel.trials.support.Flows.keyed;
import static dev.semel.trials.support.Outcome.conflict;
import static dev.semel.trials.support.Outcome.replay;
import static dev.semel.trials.support.Outcome.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.Caller;
import dev.semel.trials.support.Crowd;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.Problem;
import dev.semel.trials.support.Reply;
import dev.semel.trials.support.Stage;
import org.junit.jupiter.api.Test;

/** Run ids that the caller chooses: by PUT, in the body, beside a key. */
class ChosenRunIdTest extends OnBothStores {
    ChosenRunIdTest(Stage stage) {
        super(stage);
    }

    @Test
    void put_starts_the_run_with_this_id_and_put_again_returns_it() {
        String path = plain() + "/runs/order-17";
        Reply first = started(admin().put(path, data("\"a\": 1")));
        assertEquals("order-17", first.runId());
        assertNull(first.header("Idempotency-Key"));
        assertNull(first.header("Idempotency-Expires"));
        replay(first, admin().put(path, data("\"a\": 1")));
        Reply loud = replay(first, admin().put(path, data("\"a\": 2")));
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
    void the_id_may_stand_in_the_body() {
        plain();
        Reply first = started(admin().unkeyed("plain", "{\"data\": {}, \"run_id\": \"in-the-body\"}"));
        assertEquals("in-the-body", first.runId());
        replay(first, admin().unkeyed("plain", "{\"data\": {}, \"run_id\": \"in-the-body\"}"));
        replay(first, admin().put("/v1/workflows/plain/runs/in-the-body", "{\"data\": {}}"));
        Reply two = admin().put("/v1/workflows/plain/runs/in-the-path", "{\"run_id\": \"in-the-body\"}");
        assertEquals(
                "/run_id",
                Problem.expect(two, 400, "invalid-input")
                        .json()
                        .at("/errors/0/pointer")
                        .asString());
    }

    @Test
    void the_id_of_another_workflow_is_422() {
        plain();
        admin().publish(flow("elsewhere")).expect(200);
        Reply first = started(admin().put("/v1/workflows/plain/runs/taken", data("")));
        conflict("workflow", first, admin().put("/v1/workflows/elsewhere/runs/taken", data("")));
    }

    @Test
    void an_id_that_we_gave_is_known_as_well() {
        plain();
        Reply first = started(admin().unkeyed("plain", data("")));
        Reply again = admin().put("/v1/workflows/plain/runs/" + first.runId(), data(""));
        replay(first, again);
    }

    @Test
    void the_run_is_returned_whatever_became_of_the_key_window() {
        admin().publish(keyed("brief", "window: 1s")).expect(200);
        String key = stage.key();
        String body = "{\"data\": {}, \"run_id\": \"outlives\"}";
        Reply first = started(admin().trigger("brief", key, body));
        Crowd.until(
                "expired", () -> admin().get("/v1/keys/" + key).text("status").equals("expired"));
        Reply again = admin().put("/v1/workflows/brief/runs/outlives", "{\"data\": {}}");
        assertEquals(first.runId(), again.expect(200).runId());
        assertTrue(again.flag("idempotent_replayed"));
    }

    @Test
    void where_key_and_id_point_to_different_runs_it_is_422_and_leaves_no_row() {
        plain();
        String key = stage.key();
        Reply byKey = started(admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"with-key\"}"));
        replay(byKey, admin().trigger("plain", key, "{\"data\": {}}"));
        Reply byId = started(admin().put("/v1/workflows/plain/runs/alone", data("")));
        String before = stage.rows();
        conflict("run_id", byKey, admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"never-seen\"}"));
        conflict("run_id", byKey, admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"alone\"}"));
        assertEquals(before, stage.rows());
        assertEquals("alone", byId.runId());
        Problem.expect(admin().get("/v1/runs/never-seen"), 404, "not-found");
        started(admin().put("/v1/workflows/plain/runs/never-seen", data("")));
    }

    @Test
    void a_new_key_beside_a_known_id_returns_the_run_and_the_key_stays_free() {
        plain();
        Reply first = started(admin().put("/v1/workflows/plain/runs/known", "{\"data\": {}}"));
        String key = stage.key();
        Reply again = admin().trigger("plain", key, "{\"data\": {}, \"run_id\": \"known\"}")
                .expect(200);
        assertEquals(first.runId(), again.runId());
        assertTrue(again.flag("idempotent_replayed"));
        Problem.expect(admin().get("/v1/keys/" + key), 404, "not-found");
        started(admin().trigger("plain", key, "{\"data\": {}}"));
    }

    @Test
    void an_id_outside_the_alphabet_is_400() {
        plain();
        for (String id : new String[] {"with%20space", "a%2Fb", "%C3%A9", "x".repeat(129), "%00"}) {
            Problem.expect(admin().put("/v1/workflows/plain/runs/" + id, data("")), 400, "invalid-input");
        }
        for (String id : new String[] {"\"with space\"", "\"a/b\"", "\"\"", "\"\\u00e9\"", "5", "\"\\u0000\""}) {
            Problem.expect(admin().unkeyed("plain", "{\"run_id\": " + id + "}"), 400, "invalid-input");
        }
        started(admin().put("/v1/workflows/plain/runs/" + "x".repeat(128), data("")));
    }

    private Caller admin() {
        return stage.admin();
    }

    private String plain() {
        admin().publish(flow("plain")).expect(200);
        return "/v1/workflows/plain";
    }
}
