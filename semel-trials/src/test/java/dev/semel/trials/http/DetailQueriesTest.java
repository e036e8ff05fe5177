package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.SampleWorkflows;
import dev.semel.trials.support.ServerFixture;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What the pages of one thing ask of the API. */
class DetailQueriesTest extends OnBothStores {
    DetailQueriesTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    @Test
    void keys_of_one_workflow_are_listed_page_by_page() {
        admin().publish(SampleWorkflows.flow("closer_a")).expect(200);
        admin().publish(SampleWorkflows.flow("closer_b")).expect(200);
        for (String key : List.of("k1", "k2", "k3", "k4")) {
            admin().trigger(key.equals("k2") ? "closer_b" : "closer_a", key, SampleWorkflows.data(""))
                    .expect(200);
        }
        List<String> found = new ArrayList<>();
        String after = "";
        do {
            JsonNode page = admin().get("/v1/keys?workflow=closer_a&limit=2" + after)
                    .expect(200)
                    .json();
            page.path("items")
                    .forEach(one -> found.add(one.path("idempotency_key").asString()));
            after = page.path("next").isNull()
                    ? ""
                    : "&after=" + page.path("next").asString();
        } while (!after.isEmpty());
        assertEquals(List.of("k1", "k3", "k4"), found);
        ProblemResponseChecks.expect(admin().get("/v1/keys?workflow=closer_never"), 404, "not-found");
    }

    @Test
    void a_saved_view_is_a_working_filter_and_belongs_to_its_owner() {
        ApiCaller other = stage.server().with("operate", "read");
        other.put("/v1/views/late", "{\"filter\":\"status:failed since:24h\"}").expect(200);
        ProblemResponseChecks.expect(other.put("/v1/views/odd", "{\"filter\":\"state:failed\"}"), 400, "invalid-input");
        ProblemResponseChecks.expect(
                other.put("/v1/views/hers", "{\"filter\":\"status:failed\",\"owner\":\"usr_ana\"}"),
                400,
                "invalid-input");
        assertTrue(
                stage.server().with("read").get("/v1/views").expect(200).body().contains("status:failed since:24h"));
        ProblemResponseChecks.expect(
                stage.server().with("read").put("/v1/views/mine", "{\"filter\":\"status:failed\"}"), 403, "forbidden");
    }

    @Test
    void a_private_view_is_changed_and_removed_only_by_its_owner() {
        ApiCaller ana = stage.server().with("operate", "read");
        ApiCaller ben = stage.server().with("operate", "read");
        String path = "/v1/views/anas";
        String shared = "{\"filter\":\"status:failed\"}";
        String id = ana.put(path, shared).expect(200).text("changed_by");
        String own = "{\"filter\":\"status:failed\",\"owner\":\"" + id + "\"}";
        ben.put(path, shared.replace("failed", "completed")).expect(200);
        ana.put(path, own).expect(200);
        ProblemResponseChecks.expect(ben.put(path, shared), 403, "forbidden");
        ProblemResponseChecks.expect(ben.put(path, shared, "If-Match: \"3\""), 403, "forbidden");
        ProblemResponseChecks.expect(ben.delete(path), 403, "forbidden");
        assertEquals(
                id, admin().get(path).expect(200).json().at("/document/owner").asString());
        ana.delete(path).expect(200);
        ana.delete(path).expect(200); // asked twice it is the same claim
        ben.put(path, shared).expect(200);
        ana.put(path, own).expect(200);
        admin().delete(path).expect(200);
    }

    @Test
    void a_deleted_run_shows_when_it_began_and_an_invalid_id_does_not() {
        Instant hour = Instant.now().minusSeconds(3_600);
        String id = new RunId(hour.getEpochSecond() * 1_000_000 << 12, 7).text();
        HttpReply gone = ProblemResponseChecks.expect(admin().get("/v1/runs/" + id), 404, "not-found");
        assertEquals(Instant.ofEpochSecond(hour.getEpochSecond()).toString(), gone.text("began_at"));
        assertFalse(ProblemResponseChecks.expect(admin().get("/v1/runs/nothing"), 404, "not-found")
                .has("began_at"));
    }

    @Test
    void an_unknown_url_is_a_page_for_browsers_and_a_problem_for_others() {
        HttpReply page = stage.server().stranger().send("GET", "/no/such/page", "", "Accept: text/html,*/*");
        assertEquals(404, page.status());
        assertTrue(String.valueOf(page.header("Content-Type")).startsWith("text/html"), page.body());
        assertTrue(String.valueOf(page.header("Content-Security-Policy")).contains("default-src 'none'"));
        ProblemResponseChecks.expect(stage.server().stranger().get("/no/such/page"), 404, "not-found");
        ProblemResponseChecks.expect(
                stage.server().stranger().send("GET", "/v1/no/such", "", "Accept: text/html"), 401, "unauthenticated");
        ProblemResponseChecks.expect(admin().send("GET", "/v1/no/such", "", "Accept: text/html"), 404, "not-found");
        ProblemResponseChecks.expect(
                stage.server().stranger().send("POST", "/no/such/page", "", "Accept: text/html"), 404, "not-found");
    }
}
