package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.access.UserRole;
import dev.semel.server.api.ApiDescription;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Who did what to which key, run, workflow, token, secret, hook and setting: every route that changes something. */
class AuditTest extends OnBothStores {
    private static final Set<String> CHANGING = Set.of("post", "put", "delete", "patch");

    /** Routes by which systems, not people, bring in work: each has rows of its own that say who asked. */
    private static final Map<String, String> ELSEWHERE = Map.of(
            "POST /v1/workflows/{id}/trigger", "the run and its requests say who asked",
            "PUT /v1/workflows/{id}/runs/{run_id}", "the run and its requests say who asked",
            "POST /v1/workflows/{id}/trigger-batch", "the runs and their requests say who asked",
            "POST /v1/events", "the event is kept, with who sent it",
            "POST /v1/webhooks/{name}", "the delivery is kept",
            "POST /v1/runs/{run_id}/signals/{name}", "the timeline of the run has the signal",
            "DELETE /v1/sessions/{session_id}", "tokens have no sessions; the tests of the pages look for its row",
            "POST /v1/signals/{name}", "the signal is stored, and the timeline of the run has it",
            "POST /v1/unsubscribe/{token}", "the subscription says that the link in a mail changed it");

    /** They change nothing. */
    private static final Map<String, String> NOTHING = Map.of(
            "POST /v1/replays", "a plan changes nothing, and is kept with who made it",
            "POST /v1/reviews/{review_id}/check", "wakes the run, which asks the provider itself",
            "POST /v1/drafts", "makes a text and keeps nothing",
            "POST /v1/keys/{key}/simulate", "tells what would happen",
            "POST /v1/backtests", "tells what would have happened");

    AuditTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private static final String MADE = "{made}"; // stands for the id that the answer tells
    private static final String ANY = "{any}"; // for one that is made inside

    record AuditedAction(String action, String target, Supplier<HttpReply> asking) {}

    @Test
    void every_changing_route_leaves_an_audit_row_with_who_what_and_which() {
        Map<String, AuditedAction> actions = new LinkedHashMap<>();
        workflows(actions);
        runsAndKeys(actions);
        new AuditedDecisions(stage).addTo(actions, List.of(waiting("decide-2"), waiting("decide-3")));
        events(actions);
        settings(actions);
        people(actions);
        new AuditedAccountActions(stage).addTo(actions);
        incidents(actions);
        hooks(actions);
        TreeSet<String> missing = routes();
        actions.keySet().retainAll(missing);
        missing.removeAll(actions.keySet());
        missing.removeAll(ELSEWHERE.keySet());
        missing.removeAll(NOTHING.keySet());
        assertEquals(new TreeSet<>(), missing, "every route that changes something is done below, or has a reason");
        List<String> silent = new ArrayList<>();
        actions.forEach((route, action) -> {
            JsonNode before = newest();
            HttpReply reply = action.asking().get().expect(200);
            String target = action.target().equals(MADE) ? made(reply) : action.target();
            JsonNode after = newest();
            boolean reported = !after.equals(before)
                    && after.path("action").asString("").equals(action.action())
                    && (target.equals(ANY) || after.path("target").asString("").equals(target));
            if (!reported) {
                silent.add(route + " left " + after + ", not " + action.action() + " of " + target);
            }
            assertFalse(after.path("actor_id").asString("").isEmpty(), route);
        });
        assertEquals(List.of(), silent);
    }

    private static String made(HttpReply reply) {
        return reply.text(reply.has("token_id") ? "token_id" : "incident_id");
    }

    private JsonNode newest() {
        return admin().get("/v1/audit?limit=1").expect(200).json().path("items").path(0);
    }

    private static TreeSet<String> routes() {
        TreeSet<String> found = new TreeSet<>();
        StrictJsonCodec.parse(ApiDescription.openApi())
                .path("paths")
                .forEachEntry((path, methods) -> methods.propertyNames().stream()
                        .filter(CHANGING::contains)
                        .forEach(method -> found.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path)));
        return found;
    }

    private HttpReply post(String path, String body) {
        return admin().post(path, body);
    }

    private void workflows(Map<String, AuditedAction> actions) {
        String timed = flow("reported", "trigger: {schedules: [{id: yearly, every: 365d}]}");
        String id = admin().publish(timed).expect(200).text("workflow_id");
        String one = "/v1/workflows/{id}";
        actions.put(
                "PUT " + one,
                new AuditedAction(
                        "workflow.publish", "reported", () -> admin().publish(timed.replace("trials", "someone"))));
        actions.put("POST " + one + "/promote", new AuditedAction("workflow.promote", "reported", () -> {
            admin().send(
                            "PUT",
                            "/v1/workflows/reported?percentage=5",
                            timed.replace("trials", "another"),
                            "Content-Type: application/yaml")
                    .expect(200);
            assertEquals("for 5 per cent", newest().path("reason").asString());
            return post("/v1/workflows/reported/promote", "{}");
        }));
        actions.put(
                "POST " + one + "/rollback",
                new AuditedAction(
                        "workflow.rollback",
                        "reported",
                        () -> post("/v1/workflows/reported/rollback", "{\"version\":1}")));
        actions.put(
                "POST " + one + "/pause",
                new AuditedAction("workflow.pause", "reported", () -> post("/v1/workflows/reported/pause", "{}")));
        actions.put(
                "POST " + one + "/resume",
                new AuditedAction("workflow.resume", "reported", () -> post("/v1/workflows/reported/resume", "{}")));
        String schedule = "/v1/workflows/reported/schedules/yearly";
        String target = id + "/yearly";
        actions.put(
                "POST " + one + "/schedules/{name}/pause",
                new AuditedAction("schedule.pause", target, () -> post(schedule + "/pause", "{}")));
        actions.put(
                "POST " + one + "/schedules/{name}/resume",
                new AuditedAction("schedule.resume", target, () -> post(schedule + "/resume", "{}")));
        Instant now = Instant.now();
        String span = "{\"from\":\"" + now.minusSeconds(2) + "\",\"to\":\"" + now + "\"}";
        actions.put(
                "POST " + one + "/schedules/{name}/backfill",
                new AuditedAction("schedule.backfill", target, () -> post(schedule + "/backfill", span)));
    }

    private void runsAndKeys(Map<String, AuditedAction> actions) {
        actions.put(
                "POST /v1/clock/confirm",
                new AuditedAction("clock.confirm", "clock", () -> post("/v1/clock/confirm", "{}")));
        admin().publish(flow("personal", "input: {email: {type: string, pii: true}}"))
                .expect(200);
        String shown = fresh(admin().trigger("personal", "personal-1", "{\"data\":{\"email\":\"a@b.example\"}}"))
                .runId();
        actions.put(
                "POST /v1/runs/{run_id}/reveal",
                new AuditedAction(
                        "run.reveal", shown, () -> post("/v1/runs/" + shown + "/reveal", "{\"reason\":\"asked\"}")));
        admin().publish("""
            semel: 1
            workflow: asking
            owner: trials
            steps:
              - id: may
                approval: { to: "role:ops", title: May it? }
            """).expect(200);
        String decided = waiting("decide-1");
        String body = "{\"step\":\"may\",\"decision\":\"approve\",\"note\":\"looked\"}";
        actions.put(
                "POST /v1/runs/{run_id}/decide",
                new AuditedAction("review.approve", ANY, () -> post("/v1/runs/" + decided + "/decide", body)));
        String cancelled = waiting("cancel-1");
        actions.put(
                "POST /v1/runs/{run_id}/cancel",
                new AuditedAction("run.cancel", cancelled, () -> post("/v1/runs/" + cancelled + "/cancel", "{}")));
        admin().publish("""
            semel: 1
            workflow: failing
            owner: trials
            steps:
              - id: call
                http: { method: POST, url: "http://127.0.0.1:9/nobody" }
                protect: provider_key
                provider_window: 24h
                retry: { attempts: 1 }
            """).expect(200);
        String failed =
                admin().post("/v1/workflows/failing/trigger?wait=60s", "{}").text("run_id");
        String mended = "{\"reason\":\"mended\",\"skip\":{\"step\":\"call\",\"result\":{}}}";
        actions.put(
                "POST /v1/runs/{run_id}/resume",
                new AuditedAction("run.resume", failed, () -> post("/v1/runs/" + failed + "/resume", mended)));
        String longer = "{\"for\":\"48h\",\"reason\":\"late retries\"}";
        actions.put(
                "POST /v1/keys/{key}/extend",
                new AuditedAction("key.extend", "decide-1", () -> post("/v1/keys/decide-1/extend", longer)));
        actions.put(
                "POST /v1/keys/{key}/release",
                new AuditedAction(
                        "key.release",
                        "cancel-1",
                        () -> post("/v1/keys/cancel-1/release", "{\"reason\":\"on purpose\"}")));
    }

    private String waiting(String key) {
        String run = fresh(admin().trigger("asking", key, "{}")).runId();
        ConcurrentCalls.until(
                "it waits", () -> admin().get("/v1/runs/" + run).text("status").equals("waiting"));
        return run;
    }

    private void events(Map<String, AuditedAction> actions) {
        String sent = "{\"id\":\"1\",\"source\":\"/shop\",\"type\":\"paid\",\"data\":{}}";
        String id = post("/v1/events", sent)
                .expect(200)
                .json()
                .at("/event/event_id")
                .asString();
        actions.put(
                "POST /v1/events/{event_id}/reprocess",
                new AuditedAction("event.reprocess", id, () -> post("/v1/events/" + id + "/reprocess", "{}")));
        actions.put(
                "POST /v1/events/reprocess",
                new AuditedAction("event.reprocess", id, () -> post("/v1/events/reprocess", "{\"type\":\"paid\"}")));
    }

    private void settings(Map<String, AuditedAction> actions) {
        setting(actions, "secret", "/v1/secrets/{name}", "{\"value\":\"s3cr3t\"}");
        setting(actions, "view", "/v1/views/{name}", "{\"filter\":\"status:failed\"}");
        setting(actions, "template", "/v1/templates/{name}", "{\"channel\":\"webhook\",\"text\":\"Hello\"}");
        setting(actions, "channel", "/v1/channels/{name}", "{\"kind\":\"webhook\",\"url\":\"https://acme.example\"}");
        setting(
                actions,
                "alert",
                "/v1/alerts/{name}",
                "{\"metric\":\"conflict_rate\",\"above\":0.1,\"channel\":\"room\",\"to\":\"ops\"}");
        setting(
                actions,
                "route",
                "/v1/routes/{notification}",
                "{\"notification\":\"one\",\"channels\":[{\"channel\":\"c\",\"template\":\"t\"}]}");
        actions.put(
                "POST /v1/tokens",
                new AuditedAction("token.create", MADE, () -> post("/v1/tokens", "{\"scopes\":[\"read\"]}")));
        String known = post("/v1/tokens", "{\"scopes\":[\"read\"]}").expect(200).text("token_id");
        actions.put(
                "DELETE /v1/tokens/{token_id}",
                new AuditedAction("token.revoke", known, () -> admin().delete("/v1/tokens/" + known)));
    }

    private void setting(Map<String, AuditedAction> actions, String word, String route, String body) {
        String path = route.replaceAll("\\{.*}", "one");
        actions.put("PUT " + route, new AuditedAction(word + ".put", "one", () -> admin().put(path, body)));
        actions.put("DELETE " + route, new AuditedAction(word + ".remove", "one", () -> admin().delete(path)));
    }

    private void incidents(Map<String, AuditedAction> actions) {
        String id = post("/v1/incidents", "{\"since\":\"1h\"}").expect(200).text("incident_id");
        actions.put(
                "PUT /v1/incidents/{incident_id}",
                new AuditedAction("incident.put", id, () -> admin().put("/v1/incidents/" + id, "{\"title\":\"t\"}")));
        actions.put(
                "POST /v1/incidents",
                new AuditedAction("incident.put", MADE, () -> post("/v1/incidents", "{\"since\":\"1h\"}")));
    }

    private void people(Map<String, AuditedAction> actions) {
        actions.put(
                "PUT /v1/users/{name}",
                new AuditedAction("user.invite", "anna", () -> admin().put("/v1/users/anna", "{\"role\":\"viewer\"}")));
        admin().put("/v1/users/gast", "{\"role\":\"viewer\"}").expect(200);
        actions.put(
                "DELETE /v1/users/{name}/invitation",
                new AuditedAction("user.uninvite", "gast", () -> admin().delete("/v1/users/gast/invitation")));
        String link = stage.server().serve().users().invitations().create(1, UserRole.VIEWER, false, "peter");
        stage.server().serve().users().acceptInvitation(link, "peter", "correct horse battery", "");
        String other = stage.server().serve().users().invitations().create(1, UserRole.VIEWER, false, "otto");
        stage.server().serve().users().acceptInvitation(other, "otto", "a password of some length", "");
        actions.put(
                "DELETE /v1/users/{name}",
                new AuditedAction("user.remove", "otto", () -> admin().delete("/v1/users/otto")));
        actions.put(
                "POST /v1/users/{name}/reset",
                new AuditedAction("user.reset", "peter", () -> post("/v1/users/peter/reset", "")));
        actions.put(
                "DELETE /v1/users/{name}/sessions",
                new AuditedAction("session.end", "peter", () -> admin().delete("/v1/users/peter/sessions")));
        String profile = "/v1/profiles/{profile}";
        String member = "/v1/cohorts/{name}/members/{profile}";
        String seat = "/v1/cohorts/one/members/cus_1";
        actions.put(
                "PUT " + profile,
                new AuditedAction(
                        "profile.put",
                        "cus_1",
                        () -> admin().put("/v1/profiles/cus_1", "{\"email\":\"a@b.example\"}")));
        actions.put(
                "PUT " + profile + "/subscriptions/{topic}",
                new AuditedAction(
                        "subscription.put",
                        "cus_1/email",
                        () -> admin().put("/v1/profiles/cus_1/subscriptions/email", "{\"subscribed\":false}")));
        actions.put(
                "PUT /v1/cohorts/{name}",
                new AuditedAction(
                        "cohort.put", "one", () -> admin().put("/v1/cohorts/one", "{\"description\":\"d\"}")));
        actions.put("PUT " + member, new AuditedAction("member.put", "one/cus_1", () -> admin().put(seat, "{}")));
        actions.put("DELETE " + member, new AuditedAction("member.remove", "one/cus_1", () -> admin().delete(seat)));
        actions.put(
                "DELETE /v1/cohorts/{name}",
                new AuditedAction("cohort.remove", "one", () -> admin().delete("/v1/cohorts/one")));
        actions.put(
                "DELETE " + profile,
                new AuditedAction("profile.remove", "cus_1", () -> admin().delete("/v1/profiles/cus_1")));
    }

    private void hooks(Map<String, AuditedAction> actions) {
        admin().put("/v1/secrets/signing", "{\"value\":\"whsec_AAAA\"}").expect(200);
        String webhook = "{\"preset\":\"github\",\"secrets\":[\"signing\"]}";
        admin().put("/v1/webhooks/kept", webhook).expect(200);
        HttpReply sample = post("/v1/webhooks/kept/sample", "").expect(200);
        List<String> headers = new ArrayList<>();
        sample.json().get("headers").forEachEntry((name, value) -> headers.add(name + ": " + value.asString()));
        String delivery = stage.server()
                .stranger()
                .send("POST", sample.text("path"), sample.text("body"), headers.toArray(String[]::new))
                .expect(200)
                .text("delivery_id");
        String one = "/v1/webhooks/{name}";
        actions.put(
                "PUT " + one, new AuditedAction("webhook.put", "one", () -> admin().put("/v1/webhooks/one", webhook)));
        actions.put(
                "POST " + one + "/sample",
                new AuditedAction("webhook.sample", "kept", () -> post("/v1/webhooks/kept/sample", "")));
        actions.put(
                "POST " + one + "/deliveries/{delivery_id}/reprocess",
                new AuditedAction(
                        "delivery.reprocess",
                        delivery,
                        () -> post("/v1/webhooks/kept/deliveries/" + delivery + "/reprocess", "")));
        actions.put(
                "DELETE " + one, new AuditedAction("webhook.remove", "one", () -> admin().delete("/v1/webhooks/one")));
    }

    @Test
    void a_request_without_change_leaves_no_row_and_a_replayed_change_leaves_one() {
        String text = flow("once_reported");
        admin().publish(text).expect(200);
        JsonNode published = newest();
        assertEquals("workflow.publish", published.path("action").asString());
        admin().publish(text).expect(200);
        ProblemResponseChecks.expect(post("/v1/keys/never/release", "{\"reason\":\"r\"}"), 404, "not-found");
        assertEquals(published, newest());
        refusedLeaveNothing(text);
        for (int i = 0; i < 3; i++) {
            admin().post("/v1/workflows/once_reported/pause", "{}", "Idempotency-Key: pause-1")
                    .expect(200);
        }
        assertEquals(1, found("target:once_reported action:workflow.pause").size());
        admin().post("/v1/workflows/once_reported/resume", "{}").expect(200);
    }

    private void refusedLeaveNothing(String text) {
        admin().publish(text.replace("owner:", "trigger: {schedules: [{id: yearly, every: 365d}]}\nowner:"))
                .expect(200);
        JsonNode before = newest();
        String old = "{\"from\":\"2001-01-01T00:00:00Z\",\"to\":\"2001-01-02T00:00:00Z\"}";
        ProblemResponseChecks.expect(
                post("/v1/workflows/once_reported/schedules/yearly/backfill", old), 400, "invalid-input");
        String groups = "{\"role\":\"viewer\",\"groups\":[\"client\"]}";
        ProblemResponseChecks.expect(admin().put("/v1/users/nobody_yet", groups), 400, "invalid-input");
        assertEquals(before, newest());
    }

    /** Nobody can take a row back. */
    @Test
    void no_route_changes_or_removes_an_audit_row() {
        assertFalse(routes().stream().anyMatch(route -> route.contains("/v1/audit")));
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
