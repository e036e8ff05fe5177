package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** `POST /v1/events`: source and id name an event, and each workflow that wants it runs once for it. */
class EventsTest extends OnBothStores {
    private static final String CLOUD = "Content-Type: application/cloudevents+json";

    EventsTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private void subscribe(String workflow, String entry) {
        admin().publish(flow(workflow, "trigger: { events: [" + entry + "] }")).expect(200);
    }

    private static String event(String id, String type, String data) {
        return "{\"id\":\"" + id + "\",\"source\":\"/shop\",\"type\":\"" + type + "\",\"data\":" + data + "}";
    }

    private static String data(int amount) {
        return "{\"amount\":" + amount + ",\"note\":\"" + ServerFixture.CANARY + "\"}";
    }

    private static List<String> runs(JsonNode answer) {
        List<String> runs = new ArrayList<>();
        answer.path("runs").forEach(run -> runs.add(run.path("run_id").asString()));
        return runs;
    }

    @Test
    void no_caller_sends_events_of_the_servers_own_sources() {
        subscribe("on_decision", "{ type: semel.review.decided }");
        for (String source : List.of("semel:reviews", "semel:notifications", "SEMEL:anything")) {
            String event =
                    "{\"id\":\"f1\",\"source\":\"" + source + "\",\"type\":\"semel.review.decided\",\"data\":{}}";
            String cloud = event.replace("{\"id\"", "{\"specversion\":\"1.0\",\"id\"");
            ProblemResponseChecks.expect(admin().post("/v1/events", event), 400, "invalid-input");
            ProblemResponseChecks.expect(admin().post("/v1/events", cloud, CLOUD), 400, "invalid-input");
            ProblemResponseChecks.expect(
                    admin().post(
                                    "/v1/events",
                                    "{}",
                                    "Content-Type: application/json",
                                    "ce-specversion: 1.0",
                                    "ce-id: f1",
                                    "ce-source: " + source,
                                    "ce-type: semel.review.decided"),
                    400,
                    "invalid-input");
            JsonNode batch =
                    admin().post("/v1/events", "[" + event + "]").expect(200).json();
            assertEquals(400, batch.at("/items/0/status_code").asInt(), batch::toString);
            assertEquals(
                    0,
                    admin().get("/v1/events?id=f1&source=" + source)
                            .expect(200)
                            .json()
                            .path("items")
                            .size());
        }
        assertEquals(
                0,
                admin().get("/v1/workflows/on_decision/runs")
                        .expect(200)
                        .json()
                        .path("items")
                        .size());
    }

    @Test
    void an_event_starts_each_subscribed_workflow_once() {
        subscribe("first_a", "{ type: a.paid }");
        subscribe("second_a", "{ type: a.* }");
        subscribe("other_a", "{ type: a.paid, source: /elsewhere }");
        HttpReply first =
                admin().post("/v1/events", event("a1", "a.paid", data(1))).expect(200);
        assertEquals(2, first.json().path("matched").asInt(), first.body());
        assertNull(first.header("X-Idempotent-Replayed"));
        HttpReply again =
                admin().post("/v1/events", event("a1", "a.paid", data(1))).expect(200);
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertEquals(runs(first.json()), runs(again.json()));
        again.json()
                .path("runs")
                .forEach(run -> assertTrue(run.path("idempotent_replayed").asBoolean()));
        JsonNode run = admin().get("/v1/runs/" + runs(first.json()).getFirst())
                .expect(200)
                .json();
        assertEquals("event:/shop/a1", run.path("key").asString());
        assertEquals("event", run.path("trigger").path("kind").asString());
    }

    @Test
    void other_data_under_the_same_id_is_a_flagged_duplicate() {
        subscribe("changing", "{ type: b.paid }");
        String first = runs(admin().post("/v1/events", event("b1", "b.paid", data(1)))
                        .json())
                .getFirst();
        JsonNode again = admin().post("/v1/events", event("b1", "b.paid", data(2)))
                .expect(200)
                .json();
        assertEquals(List.of(first), runs(again));
        assertTrue(again.path("runs").get(0).path("payload_mismatch").asBoolean(), again::toString);
    }

    @Test
    void sixty_four_equal_concurrent_events_are_one_run_for_each_workflow() {
        subscribe("crowd_one", "{ type: c.paid }");
        subscribe("crowd_two", "{ type: c.paid }");
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                64,
                _ -> admin().post("/v1/events", event("c1", "c.paid", data(1))).expect(200));
        Set<List<String>> all =
                replies.stream().map(reply -> runs(reply.json())).collect(Collectors.toSet());
        assertEquals(1, all.size(), all::toString);
        assertEquals(2, all.iterator().next().size());
        long fresh = replies.stream()
                .flatMap(reply -> IntStream.range(0, 2)
                        .mapToObj(i -> reply.json()
                                .path("runs")
                                .get(i)
                                .path("idempotent_replayed")
                                .asBoolean()))
                .filter(replayed -> !replayed)
                .count();
        assertEquals(2, fresh);
    }

    @Test
    void all_three_cloudevents_modes_identify_the_same_event() {
        subscribe("modes", "{ type: d.paid }");
        String json = "{\"specversion\":\"1.0\",\"id\":\"d1\",\"source\":\"/shop\",\"type\":\"d.paid\",\"data\":{}}";
        String run = runs(admin().send("POST", "/v1/events", json, CLOUD)
                        .expect(200)
                        .json())
                .getFirst();
        HttpReply binary = admin().send(
                        "POST",
                        "/v1/events",
                        "{}",
                        "Content-Type: application/json",
                        "ce-specversion: 1.0",
                        "ce-id: %641",
                        "ce-source: /shop",
                        "ce-type: d.paid");
        assertEquals(List.of(run), runs(binary.expect(200).json()));
        JsonNode batch = admin().send(
                        "POST", "/v1/events", "[" + json + "]", "Content-Type: application/cloudevents-batch+json")
                .expect(200)
                .json();
        assertEquals(List.of(run), runs(batch.path("items").get(0)));
        assertEquals(
                List.of(run),
                runs(admin().post("/v1/events", event("d1", "d.paid", "{}")).json()));
    }

    @Test
    void every_attribute_reaches_expressions_and_absent_data_stays_absent_in_all_modes() {
        admin().publish("""
            semel: 1
            workflow: attributes
            owner: o
            trigger:
              events:
                - type: attributes.seen
                  data: { seen: "${ event.specversion + ' ' + event.subject + ' ' + event.dataschema + ' ' + event.tenant }",
                          data: "${ has(event.data) }" }
            steps: [{id: note, set: "${ input }"}]
            output: ${ steps.note }
            """).expect(200);
        String json =
                "{\"specversion\":\"1.0\",\"id\":\"at1\",\"source\":\"/s\",\"type\":\"attributes.seen\",\"subject\":\"o\","
                    + "\"dataschema\":\"https://a.example/s\",\"tenant\":\"t\"}";
        List<HttpReply> replies = List.of(
                admin().send("POST", "/v1/events", json, CLOUD),
                admin().send(
                                "POST",
                                "/v1/events",
                                "",
                                "ce-specversion: 1.0",
                                "ce-id: at2",
                                "ce-source: /s",
                                "ce-type: attributes.seen",
                                "ce-subject: o",
                                "ce-dataschema: https://a.example/s",
                                "ce-tenant: t"),
                admin().send(
                                "POST",
                                "/v1/events",
                                "[" + json.replace("at1", "at3") + "]",
                                "Content-Type: application/cloudevents-batch+json"));
        for (HttpReply reply : replies) {
            JsonNode event = reply.expect(200).json();
            String run = runs(event.has("items") ? event.path("items").get(0) : event)
                    .getFirst();
            JsonNode row = admin().get("/v1/runs/" + run).expect(200).json();
            assertEquals("1.0 o https://a.example/s t", row.at("/input/seen").asString(), row::toString);
            assertEquals("false", row.at("/input/data").toString(), row::toString);
        }
    }

    @Test
    void an_invalid_attribute_is_rejected_in_all_modes() {
        String[][] wrong = {
            {"time", "2026-11-15"},
            {"time", "2026-11-15T09:00Z"},
            {"subject", ""},
            {"datacontenttype", "json"},
            {"dataschema", "relative"}
        };
        for (String[] one : wrong) {
            String json = "{\"specversion\":\"1.0\",\"id\":\"w1\",\"source\":\"/s\",\"type\":\"w\",\"" + one[0]
                    + "\":\"" + one[1] + "\",\"data\":{}}";
            HttpReply structured =
                    admin().send("POST", "/v1/events", json, CLOUD).expect(400);
            assertEquals(one[0], structured.text("attribute"), structured.body());
            JsonNode batch = admin().send(
                            "POST", "/v1/events", "[" + json + "]", "Content-Type: application/cloudevents-batch+json")
                    .expect(200)
                    .json();
            assertEquals(400, batch.at("/items/0/status_code").asInt(), batch::toString);
            boolean type = one[0].equals("datacontenttype");
            HttpReply binary = admin().send(
                            "POST",
                            "/v1/events",
                            "{}",
                            "ce-specversion: 1.0",
                            "ce-id: w1",
                            "ce-source: /s",
                            "ce-type: w",
                            "Content-Type: " + (type ? one[1] : "application/json"),
                            type ? "X-None: 1" : "ce-" + one[0] + ": " + one[1])
                    .expect(400);
            assertEquals(one[0], binary.text("attribute"), binary.body());
        }
    }

    @Test
    void a_bad_event_is_rejected_and_not_stored() {
        subscribe("strict_e", "{ type: e.paid }");
        String before = stage.rows() + stage.count("SELECT count(*) FROM semel_event");
        String[] bad = {
            "{\"source\":\"/shop\",\"type\":\"e.paid\",\"data\":" + data(1) + "}",
            event("", "e.paid", data(1)),
            "{\"specversion\":\"0.3\",\"id\":\"e1\",\"source\":\"/shop\",\"type\":\"e.paid\"}",
            "\"text\"",
            "[]",
            "{"
        };
        for (String one : bad) {
            ProblemResponseChecks.expect(admin().post("/v1/events", one), 400, "invalid-input");
        }
        HttpReply broken = admin().send(
                        "POST",
                        "/v1/events",
                        "{}",
                        "Content-Type: application/json",
                        "ce-specversion: 1.0",
                        "ce-id: %C0%A0",
                        "ce-source: /shop",
                        "ce-type: e.paid");
        ProblemResponseChecks.expect(broken, 400, "invalid-input");
        assertEquals("id", broken.text("attribute"));
        ProblemResponseChecks.expect(
                admin().send("POST", "/v1/events", "<a/>", "Content-Type: application/cloudevents+xml"),
                415,
                "unsupported-media-type");
        assertEquals(before, stage.rows() + stage.count("SELECT count(*) FROM semel_event"));
    }

    @Test
    void one_bad_event_in_a_batch_does_not_fail_the_others() {
        subscribe("batched", "{ type: f.paid }");
        String batch = "[" + event("f1", "f.paid", data(1)) + ",{\"type\":\"f.paid\"},7,"
                + event("f2", "f.paid", data(2)) + "," + event("f1", "f.paid", data(1)) + "]";
        JsonNode items = admin().post("/v1/events", batch).expect(200).json().path("items");
        int[] codes = {200, 400, 400, 200, 200};
        for (int i = 0; i < codes.length; i++) {
            assertEquals(codes[i], items.get(i).path("status_code").asInt(), items::toString);
        }
        assertFalse(items.get(0).path("idempotent_replayed").asBoolean());
        assertTrue(items.get(4).path("idempotent_replayed").asBoolean(), "the same event again, in order");
        assertEquals(runs(items.get(0)), runs(items.get(4)));
    }

    @Test
    void a_thousand_events_are_a_thousand_runs_and_again_none() {
        subscribe("thousand", "{ type: g.paid }");
        String batch = IntStream.range(0, 1_000)
                .mapToObj(i -> event("g" + i, "g.paid", "{}"))
                .collect(Collectors.joining(",", "[", "]"));
        Set<String> runs = new HashSet<>();
        for (int round = 0; round < 2; round++) {
            boolean replayed = round == 1;
            admin().post("/v1/events", batch).expect(200).json().path("items").forEach(item -> {
                assertEquals(200, item.path("status_code").asInt(), item::toString);
                assertEquals(replayed, item.path("idempotent_replayed").asBoolean());
                runs.addAll(runs(item));
            });
        }
        assertEquals(1_000, runs.size());
        ProblemResponseChecks.expect(
                admin().post("/v1/events", "[" + "{},".repeat(1_000) + "{}]"), 400, "invalid-input");
    }

    @Test
    void an_event_without_subscribers_is_stored_and_reprocessing_starts_missing_runs() {
        HttpReply first =
                admin().post("/v1/events", event("h1", "h.paid", data(1))).expect(200);
        assertEquals(0, first.json().path("matched").asInt());
        assertNull(first.header("X-Idempotent-Replayed"));
        String eventId = first.json().path("event").path("event_id").asString();
        assertEquals(
                "true",
                admin().post("/v1/events", event("h1", "h.paid", data(1))).header("X-Idempotent-Replayed"),
                "known and unmatched");
        JsonNode unmatched = admin().get("/v1/events?unmatched=true&type=h.paid")
                .expect(200)
                .json()
                .path("items");
        assertEquals(eventId, unmatched.get(0).path("event_id").asString(), unmatched::toString);

        subscribe("late", "{ type: h.paid }");
        String path = "/v1/events/" + eventId;
        JsonNode dry =
                admin().post(path + "/reprocess?dry_run=true", "{}").expect(200).json();
        assertEquals(1, dry.path("matched").asInt(), dry::toString);
        assertTrue(dry.path("runs").get(0).path("run_id").isNull(), "nothing was started");
        assertEquals(0, admin().get(path).json().path("runs").size());

        JsonNode done = admin().post(path + "/reprocess", "{}").expect(200).json();
        assertFalse(done.path("idempotent_replayed").asBoolean(), done::toString);
        JsonNode again = admin().post("/v1/events/reprocess", "{\"type\":\"h.paid\"}")
                .expect(200)
                .json();
        assertEquals(runs(done), runs(again.path("items").get(0)), again::toString);
        assertTrue(again.path("items").get(0).path("idempotent_replayed").asBoolean());
        assertEquals(
                runs(done).getFirst(),
                admin().get(path).json().path("runs").get(0).path("run_id").asString());
        assertEquals(
                0,
                admin().get("/v1/events?unmatched=true&type=h.paid")
                        .json()
                        .path("items")
                        .size());
    }

    @Test
    void a_failing_condition_does_not_match_and_the_reason_is_recorded() {
        subscribe("condition", "{ type: i.paid, when: \"${ event.data.total > 3 }\" }");
        JsonNode answer = admin().post("/v1/events", event("i1", "i.paid", data(9)))
                .expect(200)
                .json();
        assertEquals(0, answer.path("matched").asInt());
        assertEquals(
                "condition", answer.path("not_matched").get(0).path("workflow").asString(), answer::toString);
        String eventId = answer.path("event").path("event_id").asString();
        JsonNode kept = admin().get("/v1/events/" + eventId).expect(200).json();
        assertTrue(kept.path("not_matched").get(0).path("reason").asString().contains("event.data.total"));
    }

    @Test
    void a_rejection_by_one_workflow_does_not_affect_the_others() {
        admin().publish(flow(
                        "picky",
                        "trigger: { events: [{ type: j.paid }] }",
                        "input: { total: { type: integer, required: true } }"))
                .expect(200);
        subscribe("easy", "{ type: j.paid }");
        JsonNode answer = admin().post("/v1/events", event("j1", "j.paid", data(1)))
                .expect(200)
                .json();
        assertEquals(2, answer.path("runs").size(), answer::toString);
        for (JsonNode run : answer.path("runs")) {
            if (run.path("workflow").asString().equals("picky")) {
                assertEquals("invalid-input", run.path("problem").path("code").asString());
            } else {
                assertTrue(run.path("run_id").asString().startsWith("run_"));
            }
        }
        JsonNode text = admin().post("/v1/events", event("j2", "j.paid", "\"text\""))
                .expect(200)
                .json();
        assertTrue(text.path("runs").get(0).has("problem"), "an input is an object");
    }

    @Test
    void a_paused_workflow_queues_its_runs() {
        subscribe("paused", "{ type: k.paid }");
        admin().post("/v1/workflows/paused/pause", "{}").expect(200);
        String run = runs(admin().post("/v1/events", event("k1", "k.paid", "{}"))
                        .expect(200)
                        .json())
                .getFirst();
        assertEquals("queued", admin().get("/v1/runs/" + run).text("status"));
    }

    @Test
    void scopes_and_workspaces_apply_here_too() {
        subscribe("scoped", "{ type: l.paid }");
        ProblemResponseChecks.expect(
                stage.server().with("read").post("/v1/events", event("l1", "l.paid", "{}")), 403, "forbidden");
        HttpReply sent = stage.server()
                .with("trigger")
                .post("/v1/events", event("l1", "l.paid", "{}"))
                .expect(200);
        String eventId = sent.json().path("event").path("event_id").asString();
        ProblemResponseChecks.expect(
                stage.server().with("trigger").post("/v1/events/" + eventId + "/reprocess", "{}"), 403, "forbidden");
        ProblemResponseChecks.expect(admin().get("/v1/events/evt_nothing"), 404, "not-found");
        JsonNode named =
                admin().get("/v1/events?source=/shop&id=l1").expect(200).json().path("items");
        assertEquals(eventId, named.get(0).path("event_id").asString(), named::toString);
        ProblemResponseChecks.expect(admin().get("/v1/events?id=l1"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/events?unmatched=maybe"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/events?limit=-1"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/events?after=zzz"), 400, "invalid-input");
    }

    @Test
    void lists_continue_where_they_ended() {
        for (int i = 0; i < 5; i++) {
            admin().post("/v1/events", event("m" + i, "m.paid", "{}")).expect(200);
        }
        List<String> seen = new ArrayList<>();
        String next = "";
        while (seen.size() < 5) {
            JsonNode page = admin().get("/v1/events?type=m.paid&limit=2" + next)
                    .expect(200)
                    .json();
            page.path("items").forEach(item -> seen.add(item.path("id").asString()));
            next = "&after=" + page.path("next").asString();
        }
        assertEquals(List.of("m4", "m3", "m2", "m1", "m0"), seen);
    }
}
