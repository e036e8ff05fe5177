package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.StoreKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** One inbox for what waits for people: found, decided once, reported to whoever comes later, and reminded of. */
class ReviewsTest extends OnBothStores {
    ReviewsTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private static String asking(String name, String more) {
        return "semel: 1\nworkflow: " + name + "\nowner: trials\nsteps:\n  - id: release\n    approval: {to: \"role:"
                + name + "\", title: May it go?, show: {total: \"7\"}, on_reject: continue" + more + "}\n"
                + "output: {approved: \"${ steps.release.approved }\"}\n";
    }

    /** The id of the question that a new run of the workflow asks. */
    private String asked(String workflow) {
        String run =
                admin().trigger(workflow, stage.key(), data("")).expect(200).runId();
        String[] found = {""};
        ConcurrentCalls.until("a review of " + run, () -> {
            for (JsonNode item : list("to:role:" + workflow)) {
                if (item.path("run_id").asString("").equals(run)) {
                    found[0] = item.path("review_id").asString("");
                }
            }
            return !found[0].isEmpty();
        });
        return found[0];
    }

    private JsonNode list(String q) {
        return admin().get("/v1/reviews?limit=200&q=" + q).expect(200).json().path("items");
    }

    private static HttpReply decide(ApiCaller who, String id, String decision, String... headers) {
        return who.post("/v1/reviews/" + id + "/decide", "{\"decision\":\"" + decision + "\",\"version\":1}", headers);
    }

    @Test
    void an_approval_is_listed_with_its_evidence_and_decided() {
        admin().publish(asking("plain", ", timeout: 1d")).expect(200);
        String id = asked("plain");
        HttpReply one = admin().get("/v1/reviews/" + id).expect(200);
        assertEquals("open", one.text("status"));
        assertEquals("May it go?", one.text("title"));
        assertEquals("7", one.json().path("shown").path("total").asString());
        assertFalse(one.text("due_at").isEmpty(), "its timeout is when it is due");
        assertTrue(one.json().path("evidence").size() >= 1);
        assertEquals(400, decide(admin(), id, "happened").status(), "not an answer to this question");
        decide(admin(), id, "approve").expect(200);
        String run = one.runId();
        ConcurrentCalls.until(
                "the run has ended",
                () -> admin().get("/v1/runs/" + run).text("status").equals("completed"));
        assertEquals("decided", admin().get("/v1/reviews/" + id).text("status"));
        assertTrue(admin().get("/v1/audit").body().contains("review.approve"));
    }

    @Test
    void of_two_concurrent_decisions_one_applies_and_the_other_gets_its_author() {
        admin().publish(asking("both", "")).expect(200);
        boolean two = stage.kind() == StoreKind.POSTGRES;
        try (LiveServer other = two ? stage.another() : null) {
            for (int round = 0; round < 5; round++) {
                String id = asked("both");
                ApiCaller there = other == null ? admin() : other.admin();
                List<HttpReply> replies = ConcurrentCalls.atOnce(
                        8, i -> decide(i % 2 == 0 ? admin() : there, id, i % 3 == 0 ? "approve" : "reject"));
                List<HttpReply> won =
                        replies.stream().filter(one -> one.status() == 200).toList();
                assertEquals(
                        1,
                        won.size(),
                        () -> replies.stream().map(HttpReply::body).toList().toString());
                String decision =
                        won.getFirst().json().path("decided").path("decision").asString();
                for (HttpReply reply : replies) {
                    if (reply.status() != 200) {
                        reply.expect(409);
                        assertEquals("review-decided", reply.text("code"));
                        assertEquals(decision, reply.text("decision"));
                        assertFalse(reply.text("decided_by").isEmpty());
                    }
                }
                String run = won.getFirst().runId();
                ConcurrentCalls.until(
                        "it went on as decided",
                        () -> admin().get("/v1/runs/" + run)
                                .json()
                                .path("output")
                                .path("approved")
                                .asString("")
                                .equals(String.valueOf(decision.equals("approve"))));
            }
        }
    }

    /** A token that may review, and has the role of its name. */
    private ApiCaller named(String name) {
        HttpReply made = admin().post("/v1/tokens", "{\"name\":\"" + name + "\",\"scopes\":[\"read\",\"review\"]}");
        return stage.server().as(made.expect(200).text("token"));
    }

    @Test
    void only_named_reviewers_decide_a_review() {
        admin().publish(asking("closed", "")).expect(200);
        String id = asked("closed");
        String run = admin().get("/v1/reviews/" + id).runId();
        ApiCaller stranger = named("open/client-1");
        HttpReply refused = decide(stranger, id, "approve").expect(403);
        assertEquals("forbidden", refused.text("code"));
        assertEquals("role:closed", refused.text("may"));
        String old = "{\"step\":\"release\",\"decision\":\"approve\"}";
        assertEquals(403, stranger.post("/v1/runs/" + run + "/decide", old).status(), "nor by the old source");
        String many = "{\"ids\":[\"" + id + "\"],\"decision\":\"approve\"}";
        HttpReply together = stranger.post("/v1/reviews/decide", many).expect(200);
        assertEquals(
                403, together.json().path("items").get(0).path("status_code").asInt());
        assertEquals("open", admin().get("/v1/reviews/" + id).text("status"));
        ApiCaller one = named("closed/client-1");
        ApiCaller two = named("closed");
        List<HttpReply> replies = ConcurrentCalls.atOnce(6, i -> decide(i % 2 == 0 ? one : two, id, "approve"));
        assertEquals(1, replies.stream().filter(reply -> reply.status() == 200).count());
        assertEquals(5, replies.stream().filter(reply -> reply.status() == 409).count());
    }

    @Test
    void after_an_escalation_both_may_decide_and_by_default_every_reviewer() {
        admin().publish(asking("gone", ", escalate_after: 1s, escalate_to: \"role:boss, ann\""))
                .expect(200);
        List<String> names = List.of("gone/1", "boss", "ann");
        List<String> all = names.stream().map(_ -> asked("gone")).toList();
        for (String name : names) {
            String id = all.get(names.indexOf(name));
            ConcurrentCalls.until(
                    "it went to somebody else",
                    () -> admin().get("/v1/reviews/" + id).text("to").startsWith("role:boss"));
            decide(named("nobody"), id, "approve").expect(403);
            decide(named(name), id, "approve").expect(200);
        }
        admin().publish("semel: 1\n"
                        + "workflow: anyone\n"
                        + "owner: trials\n"
                        + "steps:\n"
                        + "  - {id: release, approval: {to: owner, title: Go?}}\n")
                .expect(200);
        String run =
                admin().trigger("anyone", stage.key(), data("")).expect(200).runId();
        ConcurrentCalls.until("it asks", () -> !list("workflow:anyone").isEmpty());
        String id = list("workflow:anyone").get(0).path("review_id").asString();
        assertEquals(run, admin().get("/v1/reviews/" + id).runId());
        decide(named("nobody"), id, "approve").expect(200);
    }

    @Test
    void a_decision_sent_again_with_its_key_gets_the_same_response() {
        admin().publish(asking("twice", "")).expect(200);
        String id = asked("twice");
        HttpReply first = decide(admin(), id, "approve", "Idempotency-Key: d1").expect(200);
        HttpReply again = decide(admin(), id, "approve", "Idempotency-Key: d1").expect(200);
        assertEquals(first.json(), again.json());
        assertEquals("true", again.header("Idempotent-Replayed"));
        decide(admin(), id, "reject", "Idempotency-Key: d1").expect(422);
        decide(admin(), id, "approve").expect(409);
    }

    @Test
    void the_old_endpoint_decides_the_same_review() {
        admin().publish(asking("old", "")).expect(200);
        String id = asked("old");
        String run = admin().get("/v1/reviews/" + id).runId();
        String body = "{\"step\":\"release\",\"decision\":\"reject\",\"note\":\"no\",\"version\":1}";
        HttpReply later = admin().post("/v1/runs/" + run + "/decide", body.replace(":1}", ":2}"));
        assertFalse(later.expect(200).flag("decided"), "nobody has read a second version");
        assertTrue(admin().post("/v1/runs/" + run + "/decide", body).expect(200).flag("decided"));
        HttpReply decided = admin().get("/v1/reviews/" + id).expect(200);
        assertEquals("reject", decided.json().path("decided").path("decision").asString());
        decide(admin(), id, "approve").expect(409);
    }

    @Test
    void reviews_of_one_kind_are_decided_together_with_a_result_each() {
        admin().publish(asking("many", "")).expect(200);
        String one = asked("many");
        String two = asked("many");
        decide(admin(), two, "approve").expect(200);
        String body = "{\"ids\":[\"" + one + "\",\"" + two + "\"],\"decision\":\"approve\"}";
        HttpReply done = admin().post("/v1/reviews/decide", body).expect(200);
        assertEquals(1, done.json().path("decided").asInt());
        assertEquals(200, done.json().path("items").get(0).path("status_code").asInt());
        assertEquals(409, done.json().path("items").get(1).path("status_code").asInt());
        String three = asked("many");
        String later = "{\"ids\":[\"" + three + "@2\"],\"decision\":\"approve\"}";
        HttpReply left = admin().post("/v1/reviews/decide", later).expect(200);
        assertEquals(0, left.json().path("decided").asInt());
        assertEquals("review-decided", left.json().at("/items/0/code").asString());
        admin().post("/v1/reviews/decide", later.replace("@2", "@two")).expect(400);
        String filter = "{\"q\":\"kind:approval workflow:many\",\"decision\":\"reject\"}";
        assertEquals(
                1,
                admin().post("/v1/reviews/decide", filter)
                        .expect(200)
                        .json()
                        .path("decided")
                        .asInt());
        assertEquals("decided", admin().get("/v1/reviews/" + three).text("status"));
        admin().post("/v1/reviews/decide", "{\"decision\":\"approve\"}").expect(400);
    }

    @Test
    void repeating_a_bulk_decision_with_its_key_decides_no_newer_review() {
        admin().publish(asking("twice", "")).expect(200);
        String before = asked("twice");
        String body = "{\"q\":\"kind:approval workflow:twice\",\"decision\":\"approve\"}";
        String[] key = {"Idempotency-Key: inbox-7", "Content-Type: application/json"};
        HttpReply first = admin().send("POST", "/v1/reviews/decide", body, key).expect(200);
        assertEquals(1, first.json().path("decided").asInt());
        String since = asked("twice");
        HttpReply again = admin().send("POST", "/v1/reviews/decide", body, key).expect(200);
        assertEquals(1, again.json().path("items").size());
        assertEquals(before, again.json().at("/items/0/review_id").asString());
        assertEquals("open", admin().get("/v1/reviews/" + since).text("status"), "nobody has looked at it");
        admin().send("POST", "/v1/reviews/decide", body.replace("approve", "reject"), key)
                .expect(422);
    }

    @Test
    void reviewers_are_notified_once_when_asked_and_once_per_reminder() {
        admin().publish(flow("teller", "trigger: { events: [{ type: semel.review.* }] }"))
                .expect(200);
        admin().publish(asking("slow", ", remind_after: 1s, escalate_after: 2s, escalate_to: \"role:boss\""))
                .expect(200);
        boolean two = stage.kind() == StoreKind.POSTGRES;
        try (LiveServer other = two ? stage.another() : null) {
            ApiCaller there = other == null ? admin() : other.admin();
            String id = asked("slow");
            ConcurrentCalls.until(
                    "it went to somebody else",
                    () -> admin().get("/v1/reviews/" + id).text("to").equals("role:boss"));
            decide(there, id, "approve").expect(200);
            List<String> reported = reported(id);
            assertTrue(reported.contains("semel.review.opened"), reported::toString);
            assertTrue(reported.contains("semel.review.escalated"), reported::toString);
            assertEquals(
                    1, reported.stream().filter("semel.review.opened"::equals).count(), reported::toString);
            assertEquals(
                    1,
                    reported.stream().filter("semel.review.escalated"::equals).count(),
                    reported::toString);
        }
    }

    private List<String> reported(String id) {
        List<String> types = new java.util.ArrayList<>();
        for (JsonNode event : admin().get("/v1/events?limit=200&source=semel:reviews")
                .expect(200)
                .json()
                .path("items")) {
            if (event.path("id").asString("").startsWith(id + "/")) {
                types.add(event.path("type").asString(""));
            }
        }
        return types;
    }

    @Test
    void missing_and_forbidden_reviews_are_reported() {
        assertEquals(404, admin().get("/v1/reviews/rev_none").status());
        assertEquals(404, decide(admin(), "rev_none", "approve").status());
        assertEquals(400, admin().get("/v1/reviews?q=what").status());
        assertEquals(400, admin().get("/v1/reviews?after=x").status());
        admin().publish(asking("checked", "")).expect(200);
        assertEquals(
                400,
                admin().post("/v1/reviews/" + asked("checked") + "/check", "").status());
    }
}
