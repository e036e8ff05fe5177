package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Versions over HTTP: looked at, compared, tried on a share, promoted, rolled back. */
class RolloutTest extends OnBothStores {
    RolloutTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply stage(String yaml, String name, int share) {
        String path = "/v1/workflows/" + name + "?percentage=" + share;
        return admin().send("PUT", path, yaml, "Content-Type: application/yaml");
    }

    private HttpReply turn(String name, String action, String json, String... headers) {
        return admin().post("/v1/workflows/" + name + "/" + action, json, headers);
    }

    private JsonNode workflow(String name) {
        return admin().get("/v1/workflows/" + name).expect(200).json();
    }

    @Test
    void a_repeat_never_changes_its_version_and_both_versions_are_visible() {
        admin().publish(keyed("tried", "scope: workflow")).expect(200);
        HttpReply staged =
                stage(keyed("tried", "fingerprint: [note]"), "tried", 50).expect(200);
        assertEquals(1, staged.json().get("version").asInt());
        assertEquals(2, staged.json().at("/candidate/version").asInt());
        Map<String, String> first = new LinkedHashMap<>();
        for (int i = 0; i < 20; i++) {
            String key = stage.key();
            first.put(key, admin().trigger("tried", key, data("")).expect(200).text("run_id"));
        }
        JsonNode shown = workflow("tried");
        assertEquals(50, shown.at("/candidate/percentage").asInt());
        assertEquals("current", shown.at("/rollout/0/role").asString());
        assertEquals(2, shown.at("/rollout/1/version").asInt());
        assertEquals(20, runs(shown, 0) + runs(shown, 1));
        assertTrue(runs(shown, 0) > 0 && runs(shown, 1) > 0, shown::toString);
        assertRepeats(first, "beside");
        turn("tried", "promote", "{\"version\": 2}").expect(200);
        assertRepeats(first, "promoted");
        turn("tried", "rollback", "{\"version\": 1, \"reason\": \"tax\"}").expect(200);
        assertRepeats(first, "rolled back");
        assertEquals(3, workflow("tried").get("version").asInt());
    }

    private static int runs(JsonNode workflow, int at) {
        JsonNode runs = workflow.at("/rollout/" + at + "/runs");
        return runs.get("completed").asInt()
                + runs.get("unfinished").asInt()
                + runs.get("failed").asInt();
    }

    private void assertRepeats(Map<String, String> first, String when) {
        first.forEach((key, run) -> {
            HttpReply again = admin().trigger("tried", key, data("")).expect(200);
            assertTrue(again.flag("idempotent_replayed"), when);
            assertEquals(run, again.text("run_id"), when);
        });
    }

    @Test
    void versions_are_listed_with_their_role_and_shown_with_their_text() {
        String one = flow("listed");
        String two = flow("listed", "title: Two");
        admin().publish(one).expect(200);
        admin().publish(two).expect(200);
        stage(flow("listed", "title: Three"), "listed", 10).expect(200);
        JsonNode items =
                admin().get("/v1/workflows/listed/versions").expect(200).json().get("items");
        assertEquals(
                "[3,2,1]",
                "[" + items.get(0).get("version") + "," + items.get(1).get("version") + ","
                        + items.get(2).get("version") + "]");
        assertEquals("candidate", items.get(0).get("role").asString());
        assertEquals("current", items.get(1).get("role").asString());
        assertEquals(90, items.get(1).get("percentage").asInt());
        assertEquals("past", items.get(2).get("role").asString());
        HttpReply page = admin().get("/v1/workflows/listed/versions?limit=2").expect(200);
        HttpReply rest = admin().get("/v1/workflows/listed/versions?limit=2&after=" + page.text("next"));
        assertEquals(1, rest.json().at("/items/0/version").asInt());
        assertEquals(
                one, admin().get("/v1/workflows/listed/versions/1").expect(200).text("definition"));
        ProblemResponseChecks.expect(admin().get("/v1/workflows/listed/versions/9"), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/workflows/listed/versions/zero"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/workflows/none/versions"), 404, "not-found");
    }

    @Test
    void a_diff_shows_lines_and_what_they_mean() {
        admin().publish(keyed("compared", "window: 1d")).expect(200);
        admin().publish(keyed("compared", "window: 2d")).expect(200);
        HttpReply diff = admin().get("/v1/workflows/compared/diff").expect(200);
        assertTrue(diff.text("unified").contains("\n-idempotency: { window: 1d }\n+idempotency: { window: 2d }\n"));
        assertEquals("idempotency.window", diff.json().at("/notes/0/field").asString());
        assertTrue(diff.json().at("/notes/0/impact").asString().contains("keeps the window"));
        assertEquals("", admin().get("/v1/workflows/compared/diff?from=2&to=2").text("unified"));
        ProblemResponseChecks.expect(admin().get("/v1/workflows/compared/diff?from=7"), 404, "not-found");
    }

    @Test
    void a_change_requested_twice_happens_once() {
        admin().publish(flow("twice")).expect(200);
        String two = flow("twice", "title: Two");
        assertTrue(stage(two, "twice", 10).expect(200).flag("changed"));
        assertFalse(stage(two, "twice", 10).expect(200).flag("changed"));
        assertTrue(turn("twice", "promote", "").expect(200).flag("changed"));
        assertFalse(turn("twice", "promote", "").expect(200).flag("changed"));
        assertFalse(turn("twice", "promote", "{\"version\": 2}").expect(200).flag("changed"));
        ProblemResponseChecks.expect(turn("twice", "promote", "{\"version\": 1}"), 412, "precondition-failed");
        assertTrue(turn("twice", "rollback", "{\"version\": 1}").expect(200).flag("changed"));
        assertFalse(turn("twice", "rollback", "{\"version\": 1}").expect(200).flag("changed"));
        ProblemResponseChecks.expect(turn("twice", "rollback", ""), 400, "invalid-input");
        ProblemResponseChecks.expect(turn("twice", "rollback", "{\"version\": 9}"), 404, "not-found");
        ProblemResponseChecks.expect(turn("twice", "rollback", "{\"version\": \"1\"}"), 400, "invalid-input");
        stage(flow("twice", "title: Four"), "twice", 10).expect(200);
        String key = "Idempotency-Key: " + stage.key();
        assertTrue(turn("twice", "rollback", "", key).expect(200).flag("changed"));
        assertTrue(turn("twice", "rollback", "", key).expect(200).flag("changed"), "the kept answer");
    }

    @Test
    void a_rollout_needs_a_published_workflow_and_a_valid_percentage() {
        ProblemResponseChecks.expect(stage(flow("lonely"), "lonely", 10), 404, "not-found");
        ProblemResponseChecks.expect(stage(flow("lonely"), "lonely", 0), 400, "invalid-input");
        ProblemResponseChecks.expect(stage(flow("lonely"), "lonely", 101), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/workflows/lonely"), 404, "not-found");
    }

    @Test
    void a_workflow_call_cycle_does_not_publish() {
        admin().publish("semel: 1\nworkflow: c_a\nsteps: [{id: call, workflow: c_b}]\n")
                .expect(200);
        HttpReply refused = admin().publish("semel: 1\nworkflow: c_b\nsteps:\n  - { id: back, workflow: c_a }\n");
        JsonNode error = ProblemResponseChecks.expect(refused, 400, "invalid-definition")
                .json()
                .at("/errors/0");
        assertEquals(4, error.get("line").asInt());
        assertTrue(error.get("message").asString().contains("c_b → c_a → c_b"));
        ProblemResponseChecks.expect(admin().get("/v1/workflows/c_b"), 404, "not-found");
    }
}
