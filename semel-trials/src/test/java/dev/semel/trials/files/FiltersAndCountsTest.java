package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Filters, counts and advice of the API that users reach for after an incident. */
class FiltersAndCountsTest extends OnDevServers {
    FiltersAndCountsTest(ServerFixture stage) {
        super(stage);
    }

    private HttpReply run(String workflow, String body) {
        return stage.admin()
                .post("/v1/workflows/" + workflow + "/trigger?wait=30s", body, "Idempotency-Key: " + stage.key())
                .expect(200);
    }

    private int found(String filter) {
        return stage.admin()
                .get("/v1/runs?q=" + filter)
                .expect(200)
                .json()
                .get("items")
                .size();
    }

    @Test
    void runs_are_found_by_correlation_and_by_their_end() {
        stage.admin().publish("""
            semel: 1
            workflow: orders
            owner: o
            steps:
              - {id: need, set: {id: "${ input.id }"}}
            """).expect(200);
        run("orders", "{\"data\":{\"id\":1},\"correlation_id\":\"ord-77\"}");
        run("orders", "{\"data\":{},\"correlation_id\":\"ord-77\"}");
        run("orders", "{\"data\":{},\"correlation_id\":\"ord-78\"}");
        assertEquals(2, found("correlation:ord-77%20workflow:orders"));
        assertEquals(1, found("correlation:ord-77%20failed_since:1h"));
        assertEquals(0, found("correlation:ORD-77"));
        assertEquals(3, found("workflow:orders%20ended_since:1h"));
        assertEquals(2, found("workflow:orders%20failed_since:1h"));
        assertEquals(0, found("workflow:orders%20failed_since:1ms"));
        HttpReply plan = stage.admin()
                .post("/v1/replays", "{\"q\":\"workflow:orders failed_since:1h\"}")
                .expect(200);
        assertTrue(plan.body().contains("\"runs\":2"), plan.body());
    }

    @Test
    void a_filter_that_is_no_term_of_q_is_rejected_and_not_ignored() {
        for (String path : List.of(
                "/v1/runs?status=failed",
                "/v1/effects?sent_key=k",
                "/v1/requests?q=kind:conflict&kind=conflict",
                "/v1/reviews?to=ann",
                "/v1/audit?actor=ann")) {
            JsonNode problem = ProblemResponseChecks.expect(stage.admin().get(path), 400, "invalid-input")
                    .json();
            assertTrue(problem.path("detail").asString().contains("in `q`"), problem::toString);
        }
        stage.admin().get("/v1/audit?q=since:1h&format=json&limit=1").expect(200);
    }

    @Test
    void the_object_of_the_workflow_counts_for_effects_without_one() {
        try (CountingReceiver provider = new CountingReceiver()) {
            stage.admin().publish("""
                semel: 1
                workflow: charger
                owner: o
                idempotency: {object: "order ${ input.order }"}
                steps:
                  - id: charge
                    http: {method: POST, url: "URL/charge"}
                    protect: at_most_once
                """.replace("URL", provider.url())).expect(200);
            run("charger", "{\"data\":{\"order\":1}}");
            run("charger", "{\"data\":{\"order\":1.0}}");
            run("charger", "{\"data\":{\"order\":2}}");
            JsonNode objects = stage.admin()
                    .get("/v1/objects?workflow=charger&having=writes%3E1")
                    .expect(200)
                    .json()
                    .get("items");
            assertEquals(1, objects.size(), objects::toString);
            assertEquals("order 1", objects.get(0).get("object").asString());
            assertEquals(2, objects.get(0).get("writes").asInt());
        }
    }

    @Test
    void a_backtest_finds_the_messages_of_a_notify_step_by_its_id() {
        try (CountingReceiver provider = new CountingReceiver()) {
            ApiCaller caller = stage.admin();
            caller.put("/v1/channels/hook", "{\"kind\":\"webhook\",\"url\":\"" + provider.url() + "/hook\"}")
                    .expect(200);
            caller.put("/v1/templates/told", "{\"channel\":\"webhook\",\"text\":\"Hello.\"}")
                    .expect(200);
            caller.put("/v1/routes/order.told", """
                {"notification":"order.told","channels":[{"channel":"hook","template":"told"}]}\
                """).expect(200);
            caller.publish("""
                semel: 1
                workflow: teller_n
                owner: o
                steps:
                  - id: n
                    notify: order.told
                    to: ${ input.to }
                    protect: at_most_once
                    idempotent: {key: "${ input.to }", time: 1, unit: hours}
                """).expect(200);
            for (String to : new String[] {"a", "a", "b"}) {
                run("teller_n", "{\"data\":{\"to\":\"" + to + "\"}}");
            }
            for (String step : new String[] {"n", "n.hook"}) {
                JsonNode test = caller.post(
                                "/v1/backtests",
                                "{\"workflow\":\"teller_n\",\"step\":\"" + step + "\",\"windows\":[\"12h\"]}")
                        .expect(200)
                        .json();
                assertEquals(3, test.get("examined").asInt(), test::toString);
                assertEquals(2, test.at("/windows/0/sent").asInt(), test::toString);
            }
        }
    }

    @Test
    void a_high_risk_step_has_a_way_to_its_first_version_and_to_a_staged_one() {
        String open = """
            semel: 1
            workflow: risky
            owner: o
            steps:
              - {id: pay, http: {method: POST, url: "https://pay.example/x"}, protect: ask, risk: high}
            """;
        String approved =
                open.replace("steps:\n", "steps:\n  - {id: ask, approval: {to: \"role:ops\", title: May I}}\n");
        HttpReply first = stage.admin().publish(open).expect(400);
        assertFalse(first.text("fix").contains("Or publish"), first.body());
        assertTrue(first.text("fix").contains("A first version cannot"), first.body());
        HttpReply staged = stage.admin()
                .send("PUT", "/v1/workflows/risky?percentage=10", open, "Content-Type: application/yaml")
                .expect(400);
        assertTrue(staged.text("fix").contains("Add an approval step"), staged.body());
        stage.admin().publish(approved).expect(200);
        HttpReply later = stage.admin().publish(open).expect(400);
        assertTrue(later.text("fix").contains("--percent 10"), later.body());
        stage.admin()
                .send("PUT", "/v1/workflows/risky?percentage=10", open, "Content-Type: application/yaml")
                .expect(200);
    }
}
