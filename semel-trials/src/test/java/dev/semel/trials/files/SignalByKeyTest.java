package dev.semel.trials.files;

import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Signals from whoever does not know the run, early ones, and what a run says that it waits for. */
class SignalByKeyTest extends OnBothStores {
    private static final int MOST_LOOKS = 20_000;

    SignalByKeyTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private void publish(String workflow) {
        admin().publish("""
            semel: 1
            workflow: %s
            owner: o
            steps:
              - id: paid
                wait_for: {signal: payment.captured, key: "${ input.order_id }", timeout: 3d}
                on_timeout: {end: unpaid}
            output: ${ steps.paid }
            """.formatted(workflow)).expect(200);
    }

    private String start(String workflow, String order) {
        return fresh(admin().unkeyed(workflow, "{\"data\":{\"order_id\":\"" + order + "\"}}"))
                .text("run_id");
    }

    private HttpReply send(String order, int amount, String... headers) {
        return admin().post(
                        "/v1/signals/payment.captured",
                        "{\"key\":\"" + order + "\",\"data\":{\"amount\":" + amount + "}}",
                        headers);
    }

    private JsonNode until(String run, Predicate<JsonNode> wanted) {
        JsonNode row = admin().get("/v1/runs/" + run).expect(200).json();
        for (int looks = 0; !wanted.test(row) && looks < MOST_LOOKS; looks++) {
            row = admin().get("/v1/runs/" + run).expect(200).json();
        }
        assertTrue(wanted.test(row), row.toString());
        return row;
    }

    private JsonNode waiting(String run) {
        return until(run, row -> row.get("status").asString().equals("waiting"));
    }

    private String output(String run) {
        return until(run, row -> !row.get("ended_at").isNull()).get("output").toString();
    }

    private static List<String> runs(HttpReply reply) {
        return reply.expect(200)
                .json()
                .get("runs")
                .valueStream()
                .map(JsonNode::asString)
                .toList();
    }

    @Test
    void a_signal_reaches_the_run_that_waits_with_its_key_and_a_repeat_returns_the_same() {
        publish("keyed");
        String run = start("keyed", "o1");
        waiting(run);
        HttpReply first = send("o1", 5, "Idempotency-Key: evt_1").expect(200);
        assertEquals(List.of(run), runs(first));
        assertEquals("delivered", first.text("status"));
        assertNull(first.header("X-Idempotent-Replayed"));
        HttpReply second = send("o1", 5, "Idempotency-Key: evt_1").expect(200);
        assertEquals("true", second.header("X-Idempotent-Replayed"));
        assertEquals(List.of(run), runs(second));
        send("o1", 6, "Idempotency-Key: evt_1").expect(422);
        assertEquals("{\"amount\":5}", output(run));
    }

    @Test
    void an_early_signal_is_kept_for_the_first_waiting_run() {
        publish("early");
        HttpReply reply = send("o2", 7, "Idempotency-Key: evt_2").expect(200);
        assertEquals("stored", reply.text("status"));
        assertTrue(reply.json().get("stored_until").isString(), reply.body());
        assertEquals("{\"amount\":7}", output(start("early", "o2")));
        waiting(start("early", "o2"));
    }

    @Test
    void the_id_may_be_in_the_body_and_must_match_the_header() {
        String body = "{\"key\":\"o3\",\"id\":\"evt_3\"}";
        admin().post("/v1/signals/payment.captured", body).expect(200);
        HttpReply again = admin().post("/v1/signals/payment.captured", body, "Idempotency-Key: evt_3")
                .expect(200);
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        admin().post("/v1/signals/payment.captured", body, "Idempotency-Key: other")
                .expect(400);
        admin().post("/v1/signals/payment.captured", "{\"data\":{}}").expect(400);
        admin().post("/v1/signals/no%20name", "{\"key\":\"o3\"}").expect(400);
    }

    @Test
    void one_signal_sent_concurrently_while_the_wait_starts_is_delivered_once() {
        publish("crowded");
        String run = start("crowded", "o4");
        List<HttpReply> replies = ConcurrentCalls.atOnce(8, _ -> send("o4", 9, "Idempotency-Key: evt_4"));
        assertEquals(
                1,
                replies.stream()
                        .filter(reply -> !reply.flag("idempotent_replayed"))
                        .count());
        assertEquals("{\"amount\":9}", output(run));
        waiting(start("crowded", "o4"));
    }

    @Test
    void the_wait_reason_of_a_run_is_shown() {
        publish("shown");
        JsonNode wait = waiting(start("shown", "o5")).get("waiting_for").get(0);
        assertEquals("signal", wait.get("kind").asString());
        assertEquals("payment.captured", wait.get("name").asString());
        assertEquals("o5", wait.get("key").asString());
        assertEquals("paid", wait.get("step").asString());
        assertTrue(wait.get("until").isString(), wait.toString());
    }

    @Test
    void a_delayed_run_is_queued_with_its_start_time_and_a_repeat_is_the_same_run() {
        publish("later");
        String body = "{\"data\":{\"order_id\":\"o6\"},\"delay\":\"1h\"}";
        HttpReply first = admin().trigger("later", "delayed", body).expect(200);
        assertEquals("queued", first.text("status"));
        HttpReply second = admin().trigger("later", "delayed", body).expect(200);
        assertEquals(first.text("run_id"), second.text("run_id"));
        JsonNode wait = admin().get("/v1/runs/" + first.text("run_id"))
                .expect(200)
                .json()
                .get("waiting_for")
                .get(0);
        assertEquals("delay", wait.get("kind").asString());
        assertTrue(wait.get("since").isString() && wait.get("until").isString(), wait.toString());
        admin().unkeyed("later", "{\"data\":{\"order_id\":\"o\"},\"start_at\":\"2020-01-01T00:00:00Z\"}")
                .expect(200);
        for (String bad : List.of(
                "\"delay\":\"soon\"",
                "\"delay\":5",
                "\"start_at\":\"9999-01-01T00:00:00Z\"",
                "\"start_at\":\"now\"",
                "\"delay\":\"1s\",\"start_at\":\"2020-01-01T00:00:00Z\"")) {
            admin().unkeyed("later", "{\"data\":{\"order_id\":\"o\"}," + bad + "}")
                    .expect(400);
        }
    }

    @Test
    void a_run_queued_behind_another_of_its_entity_waits_for_a_slot() {
        admin().publish("""
            semel: 1
            workflow: serial
            owner: o
            serial_by: ${ input.order_id }
            steps:
              - id: paid
                wait_for: {signal: go}
            """).expect(200);
        start("serial", "o7");
        HttpReply second =
                admin().unkeyed("serial", "{\"data\":{\"order_id\":\"o7\"}}").expect(200);
        JsonNode row =
                until(second.text("run_id"), run -> run.get("status").asString().equals("queued"));
        assertEquals(
                "concurrency_limit", row.get("waiting_for").get(0).get("kind").asString());
    }

    @Test
    void a_decision_with_the_same_key_returns_the_same_and_another_is_rejected() {
        admin().publish("""
            semel: 1
            workflow: decided
            owner: o
            steps:
              - id: release
                approval: {to: role:ops, title: Release}
            output: ${ steps.release.approved }
            """).expect(200);
        String run = fresh(admin().unkeyed("decided", "{}")).text("run_id");
        assertEquals(
                "approval", waiting(run).get("waiting_for").get(0).get("kind").asString());
        String decide = "/v1/runs/" + run + "/decide";
        String yes = "{\"step\":\"release\",\"decision\":\"approve\"}";
        String no = "{\"step\":\"release\",\"decision\":\"reject\"}";
        HttpReply first = admin().post(decide, yes, "Idempotency-Key: form_1").expect(200);
        assertTrue(first.flag("decided"), first.body());
        assertNull(first.header("X-Idempotent-Replayed"));
        assertEquals("true", output(run));
        HttpReply again = admin().post(decide, yes, "Idempotency-Key: form_1").expect(200);
        assertTrue(again.flag("decided"), again.body());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        admin().post(decide, no, "Idempotency-Key: form_1").expect(422);
        assertTrue(
                !admin().post(decide, no, "Idempotency-Key: form_2").expect(200).flag("decided"));
    }

    @Test
    void a_signal_to_a_missing_run_is_rejected_and_not_stored() {
        admin().post("/v1/runs/not_yet/signals/payment.captured", "{}", "Idempotency-Key: evt_8")
                .expect(404);
    }

    @Test
    void a_sender_that_floods_a_run_gets_429_and_can_send_the_same_key_later() {
        String workflow = "flooded";
        publish(workflow);
        String run = start(workflow, workflow);
        waiting(run);
        String body = "{\"data\":\"" + "a".repeat(1_000_000) + "\"}";
        String path = "/v1/runs/" + run + "/signals/other";
        for (int i = 0; i < 16; i++) {
            admin().post(path, body, "Idempotency-Key: part_" + i).expect(200);
        }
        for (int i = 0; i < 2; i++) {
            HttpReply full = admin().post(path, body, "Idempotency-Key: late");
            ProblemResponseChecks.expect(full, 429, "too-many-signals");
        }
        admin().post("/v1/runs/" + run + "/signals/payment.captured", "{\"data\":1}")
                .expect(200);
        assertEquals("1", output(run), "a flood of one name does not block another");
    }
}
