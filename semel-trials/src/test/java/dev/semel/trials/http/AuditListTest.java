package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.failing;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Rows of the audit are found, paged and exported. */
class AuditListTest extends OnBothStores {
    AuditListTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private JsonNode newest() {
        return admin().get("/v1/audit?limit=1").expect(200).json().path("items").path(0);
    }

    @Test
    void rows_are_found_by_actor_action_target_and_time_and_paged() {
        ApiCaller other = stage.server().with("admin", "operate", "read");
        for (String name : List.of("f1", "f2", "f3")) {
            other.put("/v1/cohorts/" + name, "{\"description\":\"d\"}").expect(200);
        }
        String actor = newest().path("actor_id").asString();
        assertEquals(List.of("f3", "f2", "f1"), found("actor:" + actor));
        assertEquals(List.of("f3", "f2", "f1"), found("actor:" + actor + " action:cohort since:1h"));
        assertEquals(List.of("f2"), found("target:f2"));
        assertEquals(List.of(), found("actor:" + actor + " until:1h"));
        assertEquals(List.of(), found("actor:" + actor + " action:coh"));
        String then = newest().path("at").asString();
        assertEquals(List.of("f3"), found("actor:" + actor + " since:" + then));
        assertEquals(List.of("f2", "f1"), found("actor:" + actor + " until:" + then));
        HttpReply first = asked("actor:" + actor, "&limit=2");
        assertEquals(2, first.json().get("items").size());
        HttpReply rest = asked("actor:" + actor, "&limit=2&after=" + first.text("next"));
        assertEquals(
                List.of("f1"),
                rest.json()
                        .get("items")
                        .valueStream()
                        .map(row -> row.get("target").asString())
                        .toList());
        for (String bad : List.of("who:me", "since:soon", "actor:", "until:2026-11-15")) {
            ProblemResponseChecks.expect(admin().get("/v1/audit?q=" + bad), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(admin().get("/v1/audit?format=xml"), 400, "invalid-input");
    }

    @Test
    void a_given_reason_is_in_the_audit_row() {
        admin().publish("""
            semel: 1
            workflow: reasons
            owner: trials
            steps:
              - id: may
                approval: { to: "role:ops", title: May it? }
            """).expect(200);
        admin().publish(failing("reasons_fail")).expect(200);
        String cancelled = admin().trigger("reasons", "why-1", "{}").expect(200).runId();
        String decided = admin().trigger("reasons", "why-2", "{}").expect(200).runId();
        ConcurrentCalls.until(
                "it waits",
                () -> admin().get("/v1/runs/" + decided).text("status").equals("waiting"));
        HttpReply failed = admin().post("/v1/workflows/reasons_fail/trigger?wait=60s", "{}")
                .expect(200);
        String plan = admin().post("/v1/replays", "{\"runs\":[\"" + failed.runId() + "\"]}")
                .expect(200)
                .text("replay_id");
        String skip = ",\"skip\":{\"step\":\"second\",\"result\":{}}";
        Map<String, String> actions = new LinkedHashMap<>();
        actions.put("/v1/runs/" + cancelled + "/cancel", "");
        actions.put("/v1/keys/why-1/extend", ",\"for\":\"48h\"");
        actions.put("/v1/keys/why-1/release", "");
        actions.put("/v1/replays/" + plan + "/stop", "");
        actions.put("/v1/runs/" + failed.runId() + "/resume", skip);
        int n = 0;
        for (Map.Entry<String, String> action : actions.entrySet()) {
            String why = "because of ticket " + ++n;
            admin().post(action.getKey(), "{\"reason\":\"" + why + "\"" + action.getValue() + "}")
                    .expect(200);
            String reported = newest().path("reason").asString();
            assertTrue(reported.contains(why), action.getKey() + " left " + newest());
        }
        admin().post(
                        "/v1/runs/" + decided + "/decide",
                        "{\"step\":\"may\",\"decision\":\"approve\",\"note\":\"I looked\"}")
                .expect(200);
        assertTrue(newest().path("reason").asString().contains("I looked"), newest().toString());
    }

    @Test
    void an_export_has_every_row_of_the_pages() {
        admin().put("/v1/cohorts/exported", "{\"description\":\"d\"}").expect(200);
        List<String> paged = new ArrayList<>();
        String after = "";
        do {
            HttpReply page = admin().get("/v1/audit?limit=7" + after).expect(200);
            page.json().get("items").forEach(row -> paged.add(row.toString()));
            after = page.json().get("next").isNull() ? "" : "&after=" + page.text("next");
        } while (!after.isEmpty());
        try (var wire = stage.server().wire()) {
            wire.send(admin().head("GET", "/v1/audit", "Accept: application/x-ndjson") + "\r\n");
            String said = wire.untilClosed();
            assertTrue(said.contains("Content-Type: application/x-ndjson"), said);
            List<String> lines =
                    said.lines().filter(line -> line.startsWith("{")).toList();
            assertEquals(paged, lines);
            assertNotEquals(List.of(), lines);
        }
    }

    private HttpReply asked(String q, String more) {
        return admin().get("/v1/audit?q=" + q.replace(" ", "%20") + more).expect(200);
    }

    private List<String> found(String q) {
        return asked(q, "")
                .json()
                .get("items")
                .valueStream()
                .map(row -> row.get("target").asString())
                .toList();
    }
}
