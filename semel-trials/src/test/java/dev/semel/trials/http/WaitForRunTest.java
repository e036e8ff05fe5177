package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Holding the answer until the run has ended; pausing and resuming. */
class WaitForRunTest extends OnBothStores {
    WaitForRunTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void wait_in_the_query_or_as_a_preference_returns_the_output() {
        admin().publish(flow("plain")).expect(200);
        HttpReply query = fresh(admin().post("/v1/workflows/plain/trigger?wait=60s", data("")));
        assertEquals("completed", query.text("status"));
        assertEquals("{\"ok\":true}", query.json().get("output").toString());
        assertNull(query.header("Preference-Applied"));
        HttpReply preference = fresh(admin().unkeyed("plain", data(""), "Prefer: wait=60"));
        assertEquals("completed", preference.text("status"));
        assertEquals("wait=60", preference.header("Preference-Applied"));
        HttpReply both = admin().unkeyed("plain", data(""), "Prefer: respond-async, wait=60, handling=strict");
        assertEquals("wait=60, handling=strict", both.header("Preference-Applied"));
        assertTrue(both.has("output"), both.body());
    }

    @Test
    void a_wait_that_times_out_returns_the_plain_response() {
        String workflow = paused("slow");
        HttpReply reply = fresh(admin().post("/v1/workflows/" + workflow + "/trigger?wait=1000ms", data("")));
        assertEquals("queued", reply.text("status"));
        assertFalse(reply.has("output"), reply.body());
        admin().post("/v1/workflows/" + workflow + "/resume", "{}").expect(200);
    }

    @Test
    void a_duplicate_may_wait_for_the_same_run() {
        String workflow = paused("shared");
        String key = stage.key();
        HttpReply first = fresh(admin().trigger(workflow, key, data("")));
        assertEquals("queued", first.text("status"));
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                4,
                i -> i == 0
                        ? admin().post("/v1/workflows/" + workflow + "/resume", "{}")
                        : admin().post(
                                        "/v1/workflows/" + workflow + "/trigger?wait=60s",
                                        data(""),
                                        "Idempotency-Key: " + key));
        assertFalse(replies.getFirst().expect(200).flag("paused"));
        for (HttpReply reply : replies.subList(1, 4)) {
            assertEquals(first.runId(), reply.expect(200).runId());
            assertEquals("completed", reply.text("status"));
            assertTrue(reply.has("output"), reply.body());
        }
    }

    @Test
    void an_invalid_wait_is_400() {
        admin().publish(flow("plain")).expect(200);
        String before = stage.rows();
        for (String wait : new String[] {
            "0s", "301s", "999ms", "300001ms", "-1s", "1h", "", "1e3", "99999999999999999999", "5s&wait=6s"
        }) {
            ProblemResponseChecks.expect(
                    admin().post("/v1/workflows/plain/trigger?wait=" + wait, data("")), 400, "invalid-input");
        }
        assertEquals(before, stage.rows());
        HttpReply ignored = fresh(admin().unkeyed("plain", data(""), "Prefer: wait=forever"));
        assertNull(ignored.header("Preference-Applied"));
    }

    @Test
    void a_paused_workflow_queues_runs_and_a_resume_starts_them() {
        String workflow = paused("gate");
        assertTrue(admin().get("/v1/workflows/" + workflow).flag("paused"));
        String key = stage.key();
        HttpReply first = fresh(admin().trigger(workflow, key, data("")));
        assertEquals("queued", first.text("status"));
        HttpReply run = admin().get("/v1/runs/" + first.runId());
        assertEquals("queued", run.text("status"));
        assertTrue(run.json().get("started_at").isNull(), run.body());
        HttpReply again = admin().trigger(workflow, key, data(""));
        assertEquals("queued", again.text("status"));
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertFalse(admin().post("/v1/workflows/" + workflow + "/resume", "{}")
                .expect(200)
                .flag("paused"));
        ConcurrentCalls.until(
                "ran",
                () -> admin().get("/v1/runs/" + first.runId()).text("status").equals("completed"));
        assertEquals("started", fresh(admin().unkeyed(workflow, data(""))).text("status"));
        ProblemResponseChecks.expect(admin().post("/v1/workflows/none/pause", "{}"), 404, "not-found");
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String paused(String name) {
        admin().publish(flow(name)).expect(200);
        admin().post("/v1/workflows/" + name + "/pause", "{}").expect(200);
        return name;
    }
}
