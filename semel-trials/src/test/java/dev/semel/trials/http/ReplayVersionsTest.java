package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.StoreKind;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs of files that are to be replayed by another version than they had, over HTTP. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplayVersionsTest {
    @TempDir
    static Path folder;

    private final List<String> charges = new CopyOnWriteArrayList<>();
    private HttpServer provider;
    private LiveServer server;
    private ApiCaller caller;

    @BeforeAll
    void start() throws Exception {
        provider = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        provider.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            if (path.equals("/lost") || path.equals("/charge")) {
                charges.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            }
            if (!path.equals("/lost")) {
                exchange.sendResponseHeaders(path.equals("/no") ? 400 : 204, -1);
            }
            exchange.close(); // of a lost one nobody hears
        });
        provider.start();
        server = LiveServer.dev(StoreKind.SQLITE.fresh(folder), folder);
        caller = server.admin();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        provider.stop(0);
        Invariants.check(StoreKind.SQLITE.fresh(folder));
    }

    private String step(String id, String path, String protect) {
        return "{id: %s, http: {method: POST, url: \"http://127.0.0.1:%d/%s\"}, protect: %s%s}"
                .formatted(id, provider.getAddress().getPort(), path, protect, more(protect));
    }

    private static String more(String protect) {
        return switch (protect) {
            case "provider_key" -> ", provider_window: 24h";
            case "none" -> ", because: it is a test";
            default -> "";
        };
    }

    private void publish(String name, String head, String... steps) {
        String file = "semel: 1\nworkflow: " + name + "\nowner: trials\n" + head + "steps:\n  - "
                + String.join("\n  - ", steps) + "\n";
        caller.publish(file).expect(200);
    }

    private String ended(String name, String status) {
        HttpReply reply = caller.post("/v1/workflows/" + name + "/trigger?wait=60s", "{\"data\":{\"n\":1}}");
        assertEquals(status, reply.expect(200).text("status"), reply::toString);
        return reply.runId();
    }

    private HttpReply plan(String run, String more) {
        return caller.post("/v1/replays", "{\"runs\":[\"" + run + "\"]" + more + "}");
    }

    private JsonNode items(HttpReply plan) {
        return caller.get("/v1/replays/" + plan.text("replay_id") + "/items")
                .expect(200)
                .json()
                .path("items")
                .path(0);
    }

    private List<String> steps(HttpReply plan) {
        List<String> steps = new ArrayList<>();
        items(plan.expect(200))
                .path("steps")
                .forEach(one -> steps.add(one.path("step").asString() + " "
                        + one.path("kind").asString() + " " + one.path("action").asString()));
        return steps;
    }

    private void refused(HttpReply plan) {
        int before = charges.size();
        ProblemResponseChecks.expect(
                caller.post("/v1/replays/" + plan.text("replay_id") + "/apply", ""), 409, "replay-refused");
        assertEquals(before, charges.size());
    }

    @Test
    void an_effect_in_doubt_needs_a_user_if_the_current_version_protects_it_differently() {
        for (String protect : List.of("provider_key", "none")) {
            String name = "guard_" + protect;
            publish(name, "", step("charge", "lost", "at_most_once"), step("mail", "no", "at_most_once"));
            String run = ended(name, "failed");
            assertEquals(
                    List.of("charge effect reuse", "mail effect send"),
                    steps(plan(run, ",\"from\":\"start\"")),
                    "by its own version");
            publish(name, "", step("charge", "lost", protect), step("mail", "no", "at_most_once"));
            HttpReply plan = plan(run, ",\"definition\":\"current_version\"");
            assertEquals(List.of("charge effect ask", "mail effect send"), steps(plan));
            refused(plan);
        }
    }

    @Test
    void an_effect_that_the_current_version_moved_needs_a_user() {
        String charge = step("charge", "charge", "provider_key");
        String mail = step("mail", "no", "at_most_once");
        publish("moved", "", charge, mail);
        String moved = ended("moved", "failed");
        publish("moved", "", "{id: both, parallel: {card: [" + charge + "], note: [" + mail + "]}}");
        HttpReply plan = plan(moved, ",\"definition\":\"current_version\"");
        assertEquals(
                List.of("charge effect ask", "both[card]/charge effect send", "both[note]/mail effect send"),
                steps(plan));
        refused(plan);
        publish("renamed", "", charge, mail);
        String renamed = ended("renamed", "failed");
        publish("renamed", "", step("pay", "charge", "provider_key"), mail);
        HttpReply other = plan(renamed, ",\"definition\":\"current_version\"");
        assertEquals(List.of("charge effect ask", "mail effect send", "pay effect send"), steps(other));
        refused(other);
    }

    @Test
    void steps_added_by_the_current_version_are_listed_also_for_a_completed_run() {
        publish("grown", "", step("charge", "charge", "provider_key"));
        String run = ended("grown", "completed");
        assertEquals(List.of("charge effect reuse"), steps(plan(run, "")));
        publish("grown", "", step("charge", "charge", "provider_key"), step("more", "charge", "provider_key"));
        HttpReply plan = plan(run, ",\"definition\":\"current_version\"");
        assertEquals(List.of("charge effect reuse", "more effect send"), steps(plan));
    }

    @Test
    void calls_and_waits_that_the_run_did_not_reach_are_listed() {
        publish("sub", "", "{id: note, set: {ok: true}}");
        publish(
                "calls",
                "",
                step("charge", "no", "provider_key"),
                "{id: below, workflow: sub}",
                "{id: reply, wait_for: {signal: go}}",
                "{id: each, for_each: \"${ [1, 2] }\", as: one, item_key: \"${ one }\", steps: ["
                        + step("inside", "charge", "provider_key") + "]}");
        String run = ended("calls", "failed");
        HttpReply plan = plan(run, "");
        assertEquals(
                List.of("charge effect send", "below call send", "reply await run_again", "each[]/inside effect send"),
                steps(plan));
        JsonNode item = items(plan);
        assertTrue(item.path("incomplete").asBoolean(), "what the other workflow does is not notified");
        assertTrue(item.at("/steps/1/certain").asBoolean());
        assertFalse(item.at("/steps/3/certain").asBoolean());
    }

    @Test
    void an_edited_input_is_validated_against_the_version_of_the_replay() {
        publish("strict", "", step("charge", "no", "provider_key"));
        String run = ended("strict", "failed");
        publish("strict", "input:\n  n: {type: integer, required: true}\n", step("charge", "no", "provider_key"));
        String input = ",\"input\":{\"n\":\"a word\"}";
        plan(run, input).expect(200);
        ProblemResponseChecks.expect(plan(run, input + ",\"definition\":\"current_version\""), 400, "invalid-input");
        plan(run, ",\"input\":{\"n\":2},\"definition\":\"current_version\"").expect(200);
    }

    @Test
    void a_plan_by_the_current_version_is_rejected_after_another_publish() {
        publish("swapped", "", step("charge", "no", "provider_key"));
        String run = ended("swapped", "failed");
        HttpReply plan = plan(run, ",\"definition\":\"current_version\"").expect(200);
        publish("swapped", "", step("charge", "charge", "provider_key"));
        HttpReply moved = caller.post("/v1/replays/" + plan.text("replay_id") + "/apply", "");
        ProblemResponseChecks.expect(moved, 412, "plan-out-of-date");
        assertTrue(moved.body().contains("the plan used version 1"), moved::body);
    }
}
