package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A `notify` step with `emit: true` starts the workflows that subscribe to its name, once. */
class NotificationEventTest extends OnDevServers {
    private static final AtomicInteger NAMES = new AtomicInteger();

    /** No other test's workflows subscribe to it. */
    private final String notification = "lead.joined" + NAMES.incrementAndGet();

    private final CountingReceiver chat = new CountingReceiver();

    NotificationEventTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void prepare() {
        ApiCaller admin = stage.admin();
        admin.put("/v1/channels/journal", "{\"kind\":\"webhook\",\"url\":\"" + chat.url() + "\"}")
                .expect(200);
        admin.put("/v1/templates/hello", "{\"channel\":\"webhook\",\"text\":\"{{ plan }}\"}")
                .expect(200);
        admin.put("/v1/routes/" + notification, """
            {"notification":"%s","channels":[{"channel":"journal","template":"hello"}]}\
            """.formatted(notification)).expect(200);
    }

    @AfterEach
    void close() {
        chat.close();
    }

    private String notifier(String name, String more) {
        return """
            semel: 1
            workflow: NAME
            owner: o
            steps:
              - id: hello
                notify: EVENT
                to: ${ input.email }
                data: {plan: "${ input.plan }"}
                emit: true
                protect: at_most_once
            MOREoutput: ${ steps.hello }
            """.replace("EVENT", notification).replace("NAME", name).replace("MORE", more);
    }

    private String follower(String name, String more) {
        return """
            semel: 1
            workflow: NAME
            owner: o
            trigger:
              events: [{ type: EVENT, source: "semel:notifications"MORE }]
            steps:
              - {id: note, set: {to: "${ input.to }", plan: "${ input.data.plan }", sent: "${ input.sent }"}}
            output: ${ steps.note }
            """.replace("EVENT", notification).replace("NAME", name).replace("MORE", more);
    }

    private JsonNode run(String workflow, String plan) {
        String body = "{\"data\":{\"email\":\"ann@example.com\",\"plan\":\"" + plan + "\"}}";
        HttpReply reply = stage.admin()
                .post("/v1/workflows/" + workflow + "/trigger?wait=60s", body, "Idempotency-Key: " + stage.key())
                .expect(200);
        return ended(reply.text("run_id"));
    }

    private JsonNode ended(String run) {
        JsonNode row = stage.admin().get("/v1/runs/" + run).expect(200).json();
        for (int looks = 0; row.get("ended_at").isNull() && looks < 20_000; looks++) {
            row = stage.admin().get("/v1/runs/" + run).expect(200).json();
        }
        return row;
    }

    private List<String> runsOf(String workflow) {
        List<String> runs = new ArrayList<>();
        stage.admin()
                .get("/v1/workflows/" + workflow + "/runs")
                .expect(200)
                .json()
                .get("items")
                .forEach(run -> runs.add(run.get("run_id").asString()));
        return runs;
    }

    @Test
    void a_notification_starts_the_workflows_that_subscribe_to_it() {
        stage.admin().publish(notifier("joins", "")).expect(200);
        stage.admin().publish(follower("follows", "")).expect(200);
        stage.admin()
                .publish(follower("ignores", ", when: \"${ event.data.data.plan == 'free' }\""))
                .expect(200);
        JsonNode first = run("joins", "pro");
        assertEquals("completed", first.get("status").asString(), first.toString());
        assertEquals(1, runsOf("follows").size());
        assertEquals(0, runsOf("ignores").size());
        String started = runsOf("follows").getFirst();
        assertEquals(started, first.at("/output/event/runs/0/run_id").asString(), first.toString());
        assertEquals("follows", first.at("/output/event/runs/0/workflow").asString(), first.toString());
        JsonNode follower = ended(started);
        assertEquals(
                "{\"to\":\"ann@example.com\",\"plan\":\"pro\",\"sent\":true}",
                follower.get("output").toString());
        assertEquals("event", follower.at("/trigger/kind").asString());
        assertEquals(first.get("run_id"), follower.at("/trigger/run_id"), follower.toString());
        assertEquals(1, follower.at("/trigger/depth").asInt(), follower.toString());
        JsonNode event = stage.admin()
                .get("/v1/events/" + first.at("/output/event/event_id").asString())
                .expect(200)
                .json();
        assertEquals(
                notification,
                event.at("/event/type").asString(event.path("type").asString("")));
    }

    @Test
    void a_safe_replay_starts_nothing_twice() {
        stage.admin()
                .publish(notifier("breaks", "  - {id: late, set: \"${ input.absent }\"}\n"))
                .expect(200);
        stage.admin().publish(follower("once", "")).expect(200);
        JsonNode failed = run("breaks", "pro");
        assertEquals("failed", failed.get("status").asString(), failed.toString());
        for (String notifications : List.of("missing", "again", "none")) {
            String body = "{\"runs\":[\"%s\"],\"notify\":\"%s\",\"from\":\"start\",\"confirm_redo\":true}"
                    .formatted(failed.get("run_id").asString(), notifications);
            HttpReply plan = stage.admin().post("/v1/replays", body).expect(200);
            HttpReply applied = stage.admin().post("/v1/replays/" + plan.text("replay_id") + "/apply", "{}");
            applied.expect(200);
            JsonNode shown = stage.admin()
                    .get("/v1/replays/" + plan.text("replay_id"))
                    .expect(200)
                    .json();
            for (int looks = 0; shown.toString().contains("\"applying\"") && looks < 20_000; looks++) {
                shown = stage.admin()
                        .get("/v1/replays/" + plan.text("replay_id"))
                        .expect(200)
                        .json();
            }
            runsOf("breaks").forEach(this::ended);
            failed = ended(runsOf("breaks").getFirst());
        }
        assertTrue(runsOf("breaks").size() >= 2, () -> runsOf("breaks").toString());
        assertEquals(1, runsOf("once").size());
    }

    @Test
    void a_suppressed_notification_starts_nothing() {
        String window = "    idempotent: {key: \"${ input.email }\", time: 1, unit: hours, on_change: suppress}\n";
        stage.admin()
                .publish(notifier("windowed", "").replace("    protect", window + "    protect"))
                .expect(200);
        stage.admin().publish(follower("inside", "")).expect(200);
        run("windowed", "pro");
        JsonNode second = run("windowed", "pro");
        assertEquals("true", second.at("/output/suppressed").toString(), second.toString());
        assertFalse(second.path("output").has("event"), second.toString());
        assertEquals(1, runsOf("inside").size());
    }

    @Test
    void a_cycle_of_notifications_ends_at_the_depth_limit() {
        String cycle = notifier("cycles", "")
                .replace(
                        "steps:",
                        "trigger: { events: [{ type: EVENT, data: {email: \"${ event.data.to }\","
                                + " plan: \"${ event.data.data.plan }\"} }] }\nsteps:")
                .replace("EVENT", notification);
        stage.admin().publish(cycle).expect(200);
        JsonNode first = run("cycles", "pro");
        assertEquals("completed", first.get("status").asString(), first.toString());
        JsonNode last = first;
        int depth = 0;
        while (last.at("/output/event/runs").size() == 1 && depth < 100) {
            last = ended(last.at("/output/event/runs/0/run_id").asString());
            depth++;
        }
        assertEquals(16, depth, last.toString());
        assertEquals(
                "triggered-too-deep", last.at("/output/event/rejected/0/code").asString(), last.toString());
        stage.admin().post("/v1/workflows/cycles/pause", "{}").expect(200);
    }

    @Test
    void without_emit_a_notification_starts_nothing() {
        stage.admin()
                .publish(notifier("silent", "").replace("    emit: true\n", ""))
                .expect(200);
        stage.admin().publish(follower("never", "")).expect(200);
        JsonNode first = run("silent", "pro");
        assertEquals("completed", first.get("status").asString(), first.toString());
        assertFalse(first.path("output").has("event"), first.toString());
        assertEquals(0, runsOf("never").size());
    }

    @Test
    void emit_is_true_or_false_and_belongs_to_notify() {
        HttpReply reply = stage.admin()
                .publish(notifier("wrong", "").replace("emit: true", "emit: maybe"))
                .expect(400);
        assertTrue(reply.body().contains("emit"), reply.body());
    }

    @Test
    void the_event_shows_no_personal_data_of_the_notifying_run() {
        String file = notifier("private", "")
                .replace("steps:", "input: {email: {type: string, pii: true}, plan: string}\nsteps:");
        stage.admin().publish(file).expect(200);
        JsonNode first = run("private", "pro");
        String event = stage.admin()
                .get("/v1/events/" + first.at("/output/event/event_id").asString())
                .expect(200)
                .body();
        assertTrue(event.contains("\"plan\":\"pro\""), event);
        assertFalse(event.contains("ann@example.com"), event);
        JsonNode timeline = stage.admin()
                .get("/v1/runs/" + first.get("run_id").asString() + "/timeline")
                .expect(200)
                .json();
        JsonNode last = timeline.get("items").get(timeline.get("items").size() - 1);
        assertEquals("hello.event", last.get("name").asString(), timeline.toString());
        assertEquals("event", last.get("kind").asString(), timeline.toString());
    }
}
