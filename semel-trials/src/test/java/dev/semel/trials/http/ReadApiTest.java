package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Everything that can be looked at: shapes, pages, filters, limits. */
class ReadApiTest extends OnBothStores {
    private static final Set<String> RUN = Set.of(
            "run_id",
            "workflow_id",
            "workflow",
            "version",
            "status",
            "key",
            "correlation_id",
            "trigger",
            "input",
            "output",
            "error",
            "created_at",
            "started_at",
            "ended_at",
            "lineage_id",
            "replay_of",
            "parent_run_id");
    private static final Set<String> SEED_001 = Set.of(
            "idempotency_key",
            "actor_id",
            "operation_name",
            "request_fingerprint",
            "status",
            "response_reference",
            "created_at",
            "expires_at",
            "last_seen_at",
            "correlation_id",
            "error_summary");

    ReadApiTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void a_workflow_shows_its_policy_and_its_text() {
        String text = keyed("shown", "window: 7d, scope: workflow, fingerprint: [a, b], duplicate_payload: flag");
        admin().publish(text).expect(200);
        HttpReply byName = admin().get("/v1/workflows/shown").expect(200);
        assertEquals(text, byName.text("definition"));
        JsonNode policy = byName.json().get("idempotency");
        assertEquals(7 * 86_400, policy.get("window_seconds").asInt());
        assertEquals("workflow", policy.get("scope").asString());
        assertEquals("[\"a\",\"b\"]", policy.get("fingerprint").toString());
        assertEquals("reject", policy.get("on_mismatch").asString());
        assertEquals("flag", policy.get("duplicate_payload").asString());
        assertTrue(byName.json().get("effects").isArray());
        assertEquals(
                byName.body(),
                admin().get("/v1/workflows/" + byName.text("workflow_id")).body());
        List<String> names = texts(items(admin().get("/v1/workflows")), "workflow");
        assertTrue(names.containsAll(List.of("payment_receipt", "shown")), names::toString);
        assertEquals(names.stream().sorted().toList(), names);
        ProblemResponseChecks.expect(admin().get("/v1/workflows/none"), 404, "not-found");
    }

    @Test
    void publishing_counts_versions_lints_and_reports_line_and_column() {
        HttpReply first = admin().publish(flow("versioned")).expect(200);
        assertEquals(1, first.json().get("version").asInt());
        assertTrue(first.flag("changed"));
        assertFalse(admin().publish(flow("versioned")).expect(200).flag("changed"));
        HttpReply dry = admin().send(
                        "PUT",
                        "/v1/workflows/versioned?dry_run=true",
                        flow("versioned", "title: Other"),
                        "Content-Type: application/yaml");
        assertTrue(dry.expect(200).flag("dry_run"));
        assertEquals(
                1, admin().get("/v1/workflows/versioned").json().get("version").asInt());
        assertEquals(
                2,
                admin().publish(flow("versioned", "title: Other"))
                        .json()
                        .get("version")
                        .asInt());
        HttpReply bad = admin().publish("semel: 1\nworkflow: bad\nsteps:\n  - { id: a, set: { x: \"${ 1 + }\" } }\n");
        JsonNode error = ProblemResponseChecks.expect(bad, 400, "invalid-definition")
                .json()
                .at("/errors/0");
        assertTrue(error.get("line").asInt() >= 3 && error.has("column"), bad.body());
        ProblemResponseChecks.expect(admin().get("/v1/workflows/bad"), 404, "not-found");
    }

    @Test
    void a_run_has_the_members_of_the_contract() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        String id = ended("plain", key, data("\"a\": 1"));
        JsonNode run = admin().get("/v1/runs/" + id).expect(200).json();
        assertMembers(RUN, run);
        assertEquals("plain", run.get("workflow").asString());
        assertEquals("completed", run.get("status").asString());
        assertEquals(key, run.get("key").asString());
        assertEquals("http", run.at("/trigger/kind").asString());
        assertTrue(run.at("/trigger/actor_id").asString().startsWith("tok_"));
        assertEquals(1, run.at("/input/a").asInt());
        assertEquals("{\"ok\":true}", run.get("output").toString());
        assertTrue(run.get("ended_at").asString().matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z"));
        JsonNode step =
                admin().get("/v1/runs/" + id + "/timeline").expect(200).json().at("/items/0");
        assertMembers(
                Set.of(
                        "step_id",
                        "path",
                        "name",
                        "kind",
                        "protection",
                        "effect_key",
                        "sent_key",
                        "status",
                        "attempts",
                        "result"),
                step);
        assertEquals("note", step.get("name").asString());
        assertEquals("{\"ok\":true}", step.get("result").toString());
        for (String tail : new String[] {"", "/timeline", "/requests"}) {
            ProblemResponseChecks.expect(admin().get("/v1/runs/run_0000000000000000000000" + tail), 404, "not-found");
            ProblemResponseChecks.expect(admin().get("/v1/runs/x" + tail), 404, "not-found");
        }
    }

    @Test
    void a_list_of_runs_carries_their_requests_newest_last_with_the_true_counts() {
        admin().publish(keyed("noisy", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        String id = admin().trigger("noisy", key, data("\"a\": 1")).runId();
        for (int i = 0; i < 25; i++) {
            admin().trigger("noisy", key, data("\"a\": 1")).expect(200);
        }
        admin().trigger("noisy", key, data("\"a\": 2")).expect(422);
        ConcurrentCalls.until(
                "the replays are on record",
                () -> run("noisy", id).get("replays").asInt() == 25);
        JsonNode run = run("noisy", id);
        assertEquals(1, run.get("conflicts").asInt());
        JsonNode requests = run.get("requests");
        assertTrue(requests.size() <= 20, requests::toString);
        List<String> times = texts(requests, "at");
        assertEquals(times.stream().sorted().toList(), times);
        for (JsonNode request : requests) {
            assertMembers(Set.of("kind", "at", "status_code", "actor_id", "changed"), request);
        }
        JsonNode conflict = one(requests, "conflict");
        assertEquals(422, conflict.get("status_code").asInt());
        assertEquals("[\"a\"]", conflict.get("changed").toString());
        assertEquals(200, one(requests, "replayed").get("status_code").asInt());
        HttpReply own = admin().get("/v1/runs/" + id + "/requests?limit=20");
        assertEquals(requests.toString(), own.json().get("items").toString());
        assertEquals(25, own.json().get("replays").asInt());
    }

    @Test
    void a_run_without_duplicates_shows_how_it_was_started() {
        admin().publish(flow("quiet")).expect(200);
        String id = admin().unkeyed("quiet", data("")).runId();
        JsonNode requests = run("quiet", id).get("requests");
        assertEquals(List.of("started"), texts(requests, "kind"));
    }

    @Test
    void a_key_has_every_field_of_the_record() {
        admin().publish(keyed("one", "scope: workflow")).expect(200);
        admin().publish(keyed("two", "scope: workflow")).expect(200);
        String key = stage.key();
        String first = ended("one", key, data(""));
        String second = ended("two", key, data(""));
        JsonNode record = admin().get("/v1/keys/" + key).expect(200).json();
        assertMembers(SEED_001, record);
        assertEquals(second, record.get("response_reference").asString());
        assertEquals("two", record.get("operation_name").asString());
        assertEquals("active", record.get("status").asString());
        assertTrue(record.get("actor_id").asString().startsWith("tok_"));
        assertTrue(record.get("request_fingerprint").asString().matches("[0-9a-f]{64}"), record::toString);
        assertEquals(first, record.at("/others/0/response_reference").asString());
        JsonNode selected =
                admin().get("/v1/keys/" + key + "?workflow=one").expect(200).json();
        assertEquals(first, selected.get("response_reference").asString());
        assertEquals(0, selected.get("others").size());
        assertFalse(record.toString().contains(ServerFixture.CANARY), "a key record shows a payload value");
        ProblemResponseChecks.expect(admin().get("/v1/keys/" + key + "?workflow=none"), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/keys/never-used"), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/keys/caf%C3%A9"), 400, "idempotency-key-invalid");
    }

    @Test
    void pages_of_runs_are_newest_first_without_gap_or_overlap() {
        admin().publish(flow("paged")).expect(200);
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            made.addFirst(admin().unkeyed("paged", data("")).runId());
        }
        assertEquals(made, pages("/v1/workflows/paged/runs", "?limit=3", "run_id"));
        assertEquals(made, pages("/v1/workflows/paged/runs", "?limit=7", "run_id"));
        assertEquals(made, pages("/v1/runs", "?limit=2&q=workflow:paged", "run_id"));
        List<String> all = pages("/v1/runs", "?limit=5", "run_id");
        assertEquals(new HashSet<>(all).size(), all.size());
        assertTrue(all.containsAll(made));
    }

    @Test
    void pages_of_keys_and_requests_are_complete_too() {
        admin().publish(flow("paged_keys")).expect(200);
        Set<String> made = new TreeSet<>();
        for (String key : new String[] {"pk", "pk-1", "pk-10", "pk-2", "pk 3", "pkz", "pk%"}) {
            admin().trigger("paged_keys", key, data("")).expect(200);
            admin().trigger("paged_keys", key, data("")).expect(200);
            made.add(key);
        }
        assertEquals(new ArrayList<>(made), pages("/v1/keys", "?limit=2&prefix=pk", "idempotency_key"));
        assertEquals(List.of("pk%"), pages("/v1/keys", "?prefix=pk%25", "idempotency_key"));
        ConcurrentCalls.until(
                "replays are recorded",
                () -> pages("/v1/requests", "?limit=200&q=workflow:paged_keys", "run_id")
                                .size()
                        >= 7);
        List<Instant> times = pages("/v1/requests", "?limit=3&q=workflow:paged_keys", "at").stream()
                .map(Instant::parse)
                .toList();
        assertTrue(times.size() >= 7, times::toString);
        assertEquals(times.stream().sorted(Comparator.reverseOrder()).toList(), times);
    }

    @Test
    void filters_narrow_and_an_invalid_filter_is_400() {
        admin().publish(keyed("filtered", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        String quiet = ended("filtered", stage.key(), data("\"a\": 1"));
        String loud = ended("filtered", key, data("\"a\": 1"));
        ConcurrentCalls.until(
                "replays are on record",
                () -> run("filtered", loud).get("replays").asInt() > 0);
        String list = "/v1/workflows/filtered/runs";
        assertTrue(pages(list, "?q=key:" + key, "run_id").equals(List.of(loud)));
        assertTrue(pages(list, "?q=status:completed+since:1h", "run_id").containsAll(List.of(quiet, loud)));
        assertEquals(List.of(), pages(list, "?q=status:failed", "run_id"));
        assertTrue(pages(list, "?q=replayed:true", "run_id").contains(loud));
        for (String q :
                new String[] {"status:nope", "bogus:1", "word", "since:soon", "since:h", "replayed:maybe", "key:"}) {
            ProblemResponseChecks.expect(admin().get(list + "?q=" + q), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(admin().get("/v1/runs?q=workflow:none"), 404, "not-found");
    }

    @Test
    void limits_and_cursors_are_checked() {
        for (String path :
                new String[] {"/v1/runs", "/v1/keys", "/v1/requests", "/v1/audit", "/v1/workflows/payment_receipt/runs"
                }) {
            admin().get(path + "?limit=1").expect(200);
            admin().get(path + "?limit=200").expect(200);
            for (String bad : new String[] {
                "limit=0",
                "limit=201",
                "limit=-1",
                "limit=x",
                "limit=",
                "limit=1&limit=2",
                "after=%21",
                "after=..",
                "after=9999999999999999999999999999999999",
                "limit=99999999999999999999"
            }) {
                ProblemResponseChecks.expect(admin().get(path + "?" + bad), 400, "invalid-input");
            }
        }
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String ended(String workflow, String key, String body) {
        admin().trigger(workflow, key, body).expect(200);
        return admin().post("/v1/workflows/" + workflow + "/trigger?wait=60s", body, "Idempotency-Key: " + key)
                .expect(200)
                .runId();
    }

    private JsonNode run(String workflow, String id) {
        for (JsonNode run : items(admin().get("/v1/workflows/" + workflow + "/runs"))) {
            if (run.get("run_id").asString().equals(id)) {
                return run;
            }
        }
        throw new AssertionError("run " + id + " is not in the list");
    }

    /** A member of every item, page after page. */
    private List<String> pages(String path, String query, String member) {
        List<String> all = new ArrayList<>();
        String after = "";
        while (true) {
            HttpReply page = admin().get(path + query + after).expect(200);
            all.addAll(texts(items(page), member));
            JsonNode next = page.json().get("next");
            if (next.isNull()) {
                return all;
            }
            after = "&after=" + next.asString();
        }
    }

    private static JsonNode one(JsonNode requests, String kind) {
        for (JsonNode request : requests) {
            if (request.get("kind").asString().equals(kind)) {
                return request;
            }
        }
        throw new AssertionError("no " + kind + " in " + requests);
    }

    private static JsonNode items(HttpReply reply) {
        return reply.expect(200).json().get("items");
    }

    private static List<String> texts(JsonNode items, String member) {
        List<String> out = new ArrayList<>();
        items.forEach(item -> out.add(item.get(member).asString()));
        return out;
    }

    private static void assertMembers(Set<String> wanted, JsonNode node) {
        Set<String> missing = new TreeSet<>(wanted);
        missing.removeAll(node.propertyNames());
        assertEquals(Set.of(), missing, node::toString);
    }
}
