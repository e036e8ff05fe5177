package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.failing;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A review of an incident: drafted from rows, answered by people, kept with its versions. */
class IncidentReportTest extends OnBothStores {
    IncidentReportTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply failed(String workflow, String key) {
        return admin().post("/v1/workflows/" + workflow + "/trigger?wait=60s", data(""), "Idempotency-Key: " + key)
                .expect(200);
    }

    private HttpReply draft(String members) {
        return admin().post("/v1/incidents", "{" + members + "}");
    }

    @Test
    void a_draft_lists_the_first_failure_the_counts_and_who_did_what() {
        admin().publish(failing("broken")).expect(200);
        admin().publish(failing("beside")).expect(200);
        String key = stage.key();
        HttpReply first = failed("broken", key);
        failed("broken", stage.key());
        failed("beside", stage.key());
        failed("broken", key);
        JsonNode incident = draft("\"title\":\"tax outage\",\"since\":\"1h\",\"workflow\":\"broken\"")
                .expect(200)
                .json();
        JsonNode facts = incident.get("facts");
        assertEquals(2, facts.get("failed_runs").asInt(), facts::toString);
        assertEquals(first.runId(), facts.at("/first/run_id").asString());
        assertEquals("second", facts.at("/first/step").asString());
        assertEquals(2, facts.at("/errors/0/runs").asInt());
        assertEquals(1, facts.get("audit_rows").asInt(), "its publication, and nothing of the other workflow");
        assertTrue(facts.get("complete").booleanValue());
        assertTrue(incident.at("/answers/trigger").asString().contains(first.runId()), incident::toString);
        assertTrue(incident.at("/answers/cause").asString().startsWith("Probably "), incident::toString);
        assertFalse(incident.get("answers").toString().contains("\"output\""), "only the input of the first failure");
        assertTrue(draft("\"since\":\"1h\"")
                        .expect(200)
                        .json()
                        .at("/facts/failed_runs")
                        .asInt()
                >= 3);
    }

    @Test
    void only_the_audit_rows_decisions_and_effects_of_the_workflow_count() {
        admin().publish(failing("noisy-one")).expect(200);
        admin().publish(failing("quiet-one")).expect(200);
        String run = failed("noisy-one", stage.key()).runId();
        admin().post("/v1/workflows/noisy-one/pause", "{}").expect(200);
        admin().post("/v1/runs/" + run + "/resume", "{\"reason\":\"another try\"}");
        String key = stage.key();
        failed("quiet-one", key);
        admin().post("/v1/keys/" + key + "/release", "{\"reason\":\"test\"}").expect(200);
        JsonNode quiet = facts("quiet-one");
        List<String> actions = new ArrayList<>();
        quiet.get("audit").forEach(row -> actions.add(row.get("action").asString()));
        assertEquals(List.of("key.release", "workflow.publish"), actions, quiet::toString);
        assertEquals(2, quiet.get("audit_rows").asInt());
        assertEquals(0, quiet.get("decided").asInt());
        assertTrue(facts("noisy-one").get("audit").toString().contains("workflow.pause"));
    }

    private JsonNode facts(String workflow) {
        return draft("\"since\":\"1h\",\"workflow\":\"" + workflow + "\"")
                .expect(200)
                .json()
                .get("facts");
    }

    private void make(String workflow, String key) {
        admin().post("/v1/workflows/" + workflow + "/trigger?wait=60s", data(""), "Idempotency-Key: " + key)
                .expect(200);
    }

    @Test
    void duplicate_effects_are_listed_and_counts_are_those_of_the_workflow() {
        for (String name : new String[] {"orders", "parcels"}) {
            String file = """
                semel: 1
                workflow: NAME
                owner: trials
                steps:
                  - {id: make, java: shout, input: {text: hi}, protect: ask, does: create, object: NAME 7}
                """;
            admin().publish(file.replace("NAME", name)).expect(200);
        }
        String key = stage.key();
        make("orders", key);
        make("orders", stage.key());
        make("parcels", stage.key());
        make("orders", key);
        ConcurrentCalls.until(
                "the repeat is on record",
                () -> facts("orders").get("replayed_requests").asInt() == 1);
        JsonNode orders = facts("orders");
        assertEquals(1, orders.get("duplicated").asInt(), orders::toString);
        assertEquals("orders 7", orders.at("/duplicated_objects/0/object").asString());
        assertEquals(2, orders.at("/duplicated_objects/0/runs").size());
        assertEquals(0, orders.get("possibly_duplicated").asInt());
        JsonNode parcels = facts("parcels");
        assertEquals(0, parcels.get("duplicated").asInt(), parcels::toString);
        assertEquals(0, parcels.get("replayed_requests").asInt(), "that was another workflow's");
        String safe = draft("\"since\":\"1h\",\"workflow\":\"orders\"")
                .expect(200)
                .json()
                .at("/answers/safe")
                .asString();
        assertTrue(safe.startsWith("These objects were created more than once: orders 7."), safe);
        assertTrue(safe.contains("Semel cannot see whether a provider executed one request twice"), safe);
    }

    @Test
    void fired_alerts_and_late_retries_are_in_the_draft() {
        admin().publish(keyed("hasty", "window: 1s")).expect(200);
        String key = stage.key();
        make("hasty", key);
        ConcurrentCalls.until(
                "its window is over",
                () -> !admin().trigger("hasty", key, data("")).expect(200).flag("idempotent_replayed"));
        String alert = "{\"metric\":\"expired_key_retries\",\"above\":0,\"over\":\"1h\",\"workflow\":\"hasty\","
                + "\"channel\":\"nowhere\",\"to\":\"ops\"}";
        admin().put("/v1/alerts/late-keys", alert).expect(200);
        ConcurrentCalls.until("it fires", () -> {
            stage.server().serve().alertMonitor().checkAll();
            return facts("hasty").get("alerts").size() == 1;
        });
        JsonNode facts = facts("hasty");
        assertTrue(facts.get("expired_key_retries").asInt() >= 1, facts::toString);
        assertEquals("late-keys", facts.at("/alerts/0/name").asString());
        assertTrue(facts.at("/alerts/0/reason").asString().startsWith("expired_key_retries of hasty is "));
    }

    @Test
    void a_period_without_failures_says_so_and_a_wrong_one_is_rejected() {
        String span = "\"since\":\"2020-01-01T00:00:00Z\",\"until\":\"2020-01-01T01:00:00Z\"";
        JsonNode quiet = draft(span).expect(200).json();
        assertEquals(
                "No stored run failed in this period.",
                quiet.at("/answers/trigger").asString());
        assertEquals("Incident of 2020-01-01T00:00:00Z", quiet.get("title").asString());
        for (String wrong : new String[] {
            "\"title\":\"t\"", "\"since\":\"soon\"", "\"since\":\"1h\",\"until\":\"2h\"", "\"since\":\"1h\",\"who\":1"
        }) {
            ProblemResponseChecks.expect(draft(wrong), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(draft("\"since\":\"1h\",\"workflow\":\"nowhere\""), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/incidents/inc_nowhere"), 404, "not-found");
        ProblemResponseChecks.expect(
                stage.server().with("read").post("/v1/incidents", "{\"since\":\"1h\"}"), 403, "forbidden");
    }

    @Test
    void answers_are_edited_over_the_version_read_and_exported_as_markdown() {
        HttpReply made = draft("\"title\":\"mail | outage\",\"since\":\"1h\"").expect(200);
        String path = "/v1/incidents/" + made.text("incident_id");
        HttpReply edited = admin().put(path, "{\"answers\":{\"cause\":\"platform behavior\"}}", "If-Match: \"1\"");
        assertEquals(2, edited.expect(200).json().get("version").asInt());
        assertEquals(made.json().get("facts"), edited.json().get("facts"));
        assertEquals(made.json().at("/answers/safe"), edited.json().at("/answers/safe"), "what was not named stays");
        ProblemResponseChecks.expect(
                admin().put(path, "{\"answers\":{\"cause\":\"timing\"}}", "If-Match: \"1\""),
                412,
                "precondition-failed");
        ProblemResponseChecks.expect(admin().put(path, "{\"answers\":{\"blame\":\"me\"}}"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().put(path, "{\"facts\":{}}"), 400, "invalid-input");
        HttpReply page = admin().get(path + ".md").expect(200);
        assertEquals("text/markdown; charset=utf-8", page.header("Content-Type"));
        assertTrue(page.body().startsWith("# mail \\| outage\n"), page.body());
        assertTrue(page.body().contains("## 2. Was the failure caused by"), page.body());
        assertTrue(page.body().contains("\nplatform behavior\n"), page.body());
        assertTrue(page.body().contains("## 5. What rule"), page.body());
        assertTrue(admin().get("/v1/incidents").expect(200).body().contains("mail | outage"));
    }

    @Test
    void a_draft_requested_twice_with_one_key_is_one() {
        String body = "{\"since\":\"1h\",\"title\":\"once\"}";
        HttpReply first =
                admin().post("/v1/incidents", body, "Idempotency-Key: draft-1").expect(200);
        HttpReply again =
                admin().post("/v1/incidents", body, "Idempotency-Key: draft-1").expect(200);
        assertEquals(first.text("incident_id"), again.text("incident_id"));
        assertEquals("true", again.header("X-Idempotent-Replayed"));
    }
}
