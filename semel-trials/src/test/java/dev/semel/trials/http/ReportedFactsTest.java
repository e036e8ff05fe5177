package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What is reported about keys, runs, messages and effects is what happened, where somebody decides by it. */
class ReportedFactsTest extends OnDevServers {
    private final Queue<String> keys = new ConcurrentLinkedQueue<>();
    private HttpServer provider;

    ReportedFactsTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void open() throws IOException {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/", exchange -> {
            keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")));
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/refuses") ? 400 : 200, -1);
            exchange.close();
        });
        provider.start();
    }

    @AfterEach
    void close() {
        provider.stop(0);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + provider.getAddress().getPort() + path;
    }

    private HttpReply ended(String workflow, String members) {
        return admin().post(
                        "/v1/workflows/" + workflow + "/trigger?wait=60s",
                        data(members),
                        "Idempotency-Key: " + stage.key())
                .expect(200);
    }

    private String status(String run) {
        return admin().get("/v1/runs/" + run).expect(200).text("status");
    }

    private JsonNode items(String path) {
        return admin().get(path).expect(200).json().path("items");
    }

    /** The open review of a run. */
    private String review(String run) {
        String[] found = {""};
        ConcurrentCalls.until("a review of " + run, () -> {
            for (JsonNode item : items("/v1/reviews?limit=200")) {
                if (item.path("run_id").asString("").equals(run)) {
                    found[0] = item.path("review_id").asString("");
                }
            }
            return !found[0].isEmpty();
        });
        return found[0];
    }

    @Test
    void a_key_of_the_provider_leads_back_to_its_run_also_for_an_earlier_generation() {
        admin().publish("""
            semel: 1
            workflow: paid
            owner: trials
            steps:
              - id: pay
                http: { method: POST, url: "%s" }
                protect: provider_key
                provider_window: 24h
            """.formatted(url("/pays"))).expect(200);
        String first = ended("paid", "").runId();
        String plan = admin().post(
                        "/v1/replays", "{\"runs\":[\"" + first + "\"],\"redo\":[\"pay\"],\"confirm_redo\":true}")
                .expect(200)
                .text("replay_id");
        HttpReply planned = admin().get("/v1/replays/" + plan).expect(200);
        assertEquals(0, planned.json().path("safe").asInt(), planned.body());
        assertEquals(1, planned.json().at("/actions/send_again/runs").asInt(), planned.body());
        assertEquals(0, planned.json().at("/actions/send/runs").asInt(), planned.body());
        admin().post("/v1/replays/" + plan + "/apply", "{}").expect(200);
        ConcurrentCalls.until("it was sent twice", () -> keys.size() == 2);
        ConcurrentCalls.until(
                "the new run has ended",
                () -> items("/v1/runs?q=workflow:paid")
                        .path(0)
                        .path("status")
                        .asString("")
                        .equals("completed"));
        List<String> sent = List.copyOf(keys);
        String second = items("/v1/runs?q=workflow:paid").path(0).path("run_id").asString();
        assertEquals(first, only(sent.getFirst()).path("run_id").asString());
        assertEquals(second, only(sent.getLast()).path("run_id").asString());
        for (String run : List.of(first, second)) {
            JsonNode step = items("/v1/runs/" + run + "/timeline").path(0);
            assertEquals(
                    sent.get(run.equals(first) ? 0 : 1), step.path("sent_key").asString(""), step::toString);
            assertEquals(1, step.path("attempts").size(), step::toString);
        }
    }

    private JsonNode only(String sentKey) {
        JsonNode found = items("/v1/effects?q=sent_key:" + sentKey);
        assertEquals(1, found.size(), found::toString);
        assertEquals(sentKey, found.path(0).path("sent_key").asString(""));
        return found.path(0);
    }

    @Test
    void a_review_of_a_changed_message_shows_both_data_masked_and_the_fields_that_differ() {
        admin().publish("""
            semel: 1
            workflow: changing
            owner: trials
            input: { email: { type: string, pii: true }, total: string, letter: string, note: string }
            steps:
              - id: tell
                http: { method: POST, url: "%s", body: { to: "${ input.email }", total: "${ input.total }", lines: [a] } }
                protect: ask
                idempotent: { key: "${ input.letter }", time: 1, unit: days, on_change: review }
            """.formatted(url("/told"))).expect(200);
        String first = ended("changing", "\"email\":\"ada@acme.example\",\"total\":\"10 EUR\",\"letter\":\"l1\"")
                .runId();
        String second = admin().trigger(
                        "changing",
                        stage.key(),
                        data("\"email\":\"bob@acme.example\",\"total\":\"25 EUR\",\"letter\":\"l1\""))
                .expect(200)
                .runId();
        String id = review(second);
        JsonNode change = admin().get("/v1/reviews/" + id).expect(200).json().path("change");
        assertEquals(first, change.path("previous_run_id").asString(""), change::toString);
        assertTrue(change.path("previous").toString().contains("10 EUR"), change::toString);
        assertTrue(change.path("next").toString().contains("25 EUR"), change::toString);
        List<String> fields =
                change.path("fields").valueStream().map(JsonNode::asString).toList();
        assertTrue(fields.stream().anyMatch(field -> field.endsWith("total")), change::toString);
        assertTrue(fields.stream().anyMatch(field -> field.endsWith("to")), change::toString);
        assertFalse(fields.stream().anyMatch(field -> field.contains("lines")), change::toString);
        assertFalse(change.toString().contains("@acme.example"), change::toString);
        admin().post("/v1/reviews/" + id + "/decide", "{\"decision\":\"suppress\",\"version\":1}")
                .expect(200);
        ConcurrentCalls.until("it goes on", () -> status(second).equals("completed"));
        assertEquals(1, keys.size());
    }

    @Test
    void the_first_failure_of_an_incident_is_described_with_its_status_and_its_masked_input() {
        admin().publish("""
            semel: 1
            workflow: refused
            owner: trials
            input: { email: { type: string, pii: true }, order: string, note: string }
            steps:
              - { id: book, http: { method: POST, url: "%s" }, protect: ask }
            """.formatted(url("/refuses"))).expect(200);
        ended("refused", "\"email\":\"ada@acme.example\",\"order\":\"o-17\"");
        JsonNode incident = admin().post("/v1/incidents", "{\"since\":\"1h\",\"workflow\":\"refused\"}")
                .expect(200)
                .json();
        assertEquals(400, incident.at("/facts/first/http_status").asInt(), incident::toString);
        String trigger = incident.at("/answers/trigger").asString();
        assertTrue(trigger.contains("in step book with HTTP status 400"), trigger);
        assertTrue(trigger.contains("o-17"), trigger);
        assertFalse(incident.toString().contains("ada@acme.example"), incident::toString);
    }

    @Test
    void a_request_that_was_rejected_for_its_payload_is_found_by_its_key() {
        admin().publish(keyed("captured", "duplicate_payload: reject")).expect(200);
        String held = stage.key();
        String refused = stage.key();
        String run =
                admin().trigger("captured", held, data("\"a\":1")).expect(200).runId();
        admin().trigger("captured", refused, data("\"a\":1")).expect(409);
        JsonNode found = items("/v1/requests?q=key:" + refused);
        assertEquals(1, found.size(), found::toString);
        assertEquals(refused, found.path(0).path("key").asString(""));
        assertEquals(run, found.path(0).path("run_id").asString(""));
        assertEquals(409, found.path(0).path("status_code").asInt());
        HttpReply key = admin().get("/v1/keys/" + refused);
        assertEquals(404, key.status(), "it holds no run");
        assertTrue(key.text("detail").contains("rejected a request with this key"), key.body());
        assertFalse(key.body().contains("starts a new run"), key.body());
        assertEquals(run, key.text("run_id"));
    }

    @Test
    void a_dry_run_of_a_release_does_not_read_like_a_release() {
        admin().publish(keyed("held", "window: 1d")).expect(200);
        String key = stage.key();
        admin().trigger("held", key, data("")).expect(200);
        HttpReply dry = admin().post("/v1/keys/" + key + "/release?dry_run=true", "{\"reason\":\"look\"}")
                .expect(200);
        assertTrue(dry.text("summary").startsWith("Nothing was released. After a release, "), dry.body());
        assertTrue(admin().trigger("held", key, data("")).expect(200).flag("idempotent_replayed"));
    }

    private String rejected(String name, String onReject) {
        admin().publish("semel: 1\nworkflow: " + name + "\nowner: trials\nsteps:\n"
                        + "  - { id: release, approval: { to: \"role:ops\", title: May it go?" + onReject + " } }\n"
                        + "  - { id: after, set: { ok: true } }\n")
                .expect(200);
        String run = admin().trigger(name, stage.key(), data("")).expect(200).runId();
        admin().post("/v1/reviews/" + review(run) + "/decide", "{\"decision\":\"reject\",\"version\":1}")
                .expect(200);
        ConcurrentCalls.until(
                "it has ended",
                () -> !admin().get("/v1/runs/" + run)
                        .json()
                        .path("ended_at")
                        .asString("")
                        .isEmpty());
        return run;
    }

    @Test
    void a_rejected_approval_does_not_read_as_success() {
        HttpReply run = admin().get("/v1/runs/" + rejected("stopped", ""));
        assertEquals("cancelled", run.text("status"), run.body());
        assertEquals("approval-rejected", run.json().at("/error/code").asString(""), run.body());
        assertEquals("release", run.json().at("/error/step").asString(""), run.body());
        assertEquals("completed", status(rejected("handled", ", on_reject: continue")), "the workflow handles it");
        assertEquals("failed", status(rejected("failing-one", ", on_reject: fail")), "the workflow calls it a failure");
        assertEquals("completed", status(rejected("regular", ", on_reject: {end: declined}")), "a declared end");
    }

    @Test
    void a_queued_run_starts_when_it_leaves_the_queue() {
        admin().publish("""
            semel: 1
            workflow: serial
            owner: trials
            serial_by: "${ input.customer }"
            steps:
              - { id: go, wait_for: { signal: go, timeout: 1h } }
            """).expect(200);
        String first = admin().trigger("serial", stage.key(), data("\"customer\":\"c1\""))
                .expect(200)
                .runId();
        String second = admin().trigger("serial", stage.key(), data("\"customer\":\"c1\""))
                .expect(200)
                .runId();
        ConcurrentCalls.until("the first waits", () -> status(first).equals("waiting"));
        HttpReply queued = admin().get("/v1/runs/" + second).expect(200);
        assertEquals("queued", queued.text("status"));
        assertTrue(queued.json().path("started_at").isNull(), queued.body());
        admin().post("/v1/runs/" + first + "/signals/go", "{\"data\":{}}").expect(200);
        ConcurrentCalls.until("the second waits", () -> status(second).equals("waiting"));
        String ended = admin().get("/v1/runs/" + first).text("ended_at");
        for (boolean over : new boolean[] {false, true}) {
            HttpReply run = admin().get("/v1/runs/" + second);
            assertTrue(run.text("started_at").compareTo(ended) >= 0, run.body());
            assertTrue(run.text("created_at").compareTo(ended) < 0, run.body());
            if (!over) {
                admin().post("/v1/runs/" + second + "/signals/go", "{\"data\":{}}")
                        .expect(200);
                ConcurrentCalls.until("it has ended", () -> status(second).equals("completed"));
            }
        }
    }
}
