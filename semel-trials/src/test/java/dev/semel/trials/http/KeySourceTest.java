package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Where a key comes from, and which spellings are the same key. */
class KeySourceTest extends OnBothStores {
    private static final String DERIVED = flow("derived", "trigger: { http: { key: \"${ input.event_id }\" } }");

    KeySourceTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void the_workflow_derives_the_key_from_the_input_and_the_response_echoes_it() {
        admin().publish(DERIVED).expect(200);
        HttpReply first = started(admin().unkeyed("derived", data("\"event_id\": \"evt_7\"")));
        assertEquals("evt_7", first.header("Idempotency-Key"));
        assertTrue(first.header("Idempotency-Expires") != null);
        replay(first, admin().unkeyed("derived", data("\"event_id\": \"evt_7\"")));
        replay(first, admin().trigger("derived", "evt_7", data("\"event_id\": \"evt_7\"")));
        assertEquals(first.runId(), admin().get("/v1/keys/evt_7").text("response_reference"));
        assertNotEquals(
                first.runId(),
                started(admin().unkeyed("derived", data("\"event_id\": 8"))).runId());
    }

    @Test
    void the_key_can_be_derived_from_a_declared_header_and_no_credential() {
        String file = flow("by_header", "trigger: { http: { key: '${ key(\"hook\", header[\"X-Event-Id\"]) }' } }");
        admin().publish(file).expect(200);
        HttpReply first = started(admin().unkeyed("by_header", data(""), "x-event-id: evt_h1"));
        assertEquals("hook:evt_h1", first.header("Idempotency-Key"));
        replay(first, admin().unkeyed("by_header", data(""), "X-EVENT-ID: evt_h1"));
        assertNotEquals(
                first.runId(),
                started(admin().unkeyed("by_header", data(""), "X-Event-Id: evt_h2"))
                        .runId());
        ProblemResponseChecks.expect(admin().unkeyed("by_header", data("")), 400, "idempotency-key-required");
        String twice = "X-Event-Id: evt_h1\r\nX-Event-Id: evt_h2";
        ProblemResponseChecks.expect(admin().unkeyed("by_header", data(""), twice), 400, "invalid-input");
        for (String name : new String[] {"Authorization", "COOKIE", "proxy-authorization"}) {
            ProblemResponseChecks.expect(
                    admin().publish(file.replace("X-Event-Id", name)
                            .replace("workflow: by_header", "workflow: by_credential")),
                    400,
                    "invalid-definition");
        }
    }

    @Test
    void the_header_wins_over_the_derived_key() {
        admin().publish(DERIVED).expect(200);
        String key = stage.key();
        HttpReply byHeader = started(admin().trigger("derived", key, data("\"event_id\": \"evt_loses\"")));
        assertEquals(key, byHeader.header("Idempotency-Key"));
        started(admin().unkeyed("derived", data("\"event_id\": \"evt_loses\"")));
    }

    @Test
    void one_number_in_any_notation_is_one_action() {
        admin().publish("""
            semel: 1
            workflow: numbered
            owner: trials
            trigger: {http: {key: "order-${ input.n }"}}
            serial_by: ${ input.n }
            idempotency: {object: "${ input.n }"}
            steps:
              - id: note
                set: {ok: true}
            """).expect(200);
        HttpReply first = started(admin().unkeyed("numbered", data("\"n\": 100")));
        assertEquals("order-100", first.header("Idempotency-Key"));
        for (String notation : new String[] {"100.0", "1e2", "1000e-1"}) {
            replay(first, admin().unkeyed("numbered", data("\"n\": " + notation)));
        }
        String large = "\"n\": 900719925474099";
        assertNotEquals(
                started(admin().unkeyed("numbered", data(large + 2))).runId(),
                started(admin().unkeyed("numbered", data(large + 3))).runId());
    }

    @Test
    void an_empty_or_failing_derived_key_is_row_9_and_never_a_run() {
        admin().publish(DERIVED).expect(200);
        String before = stage.rows();
        for (String members : new String[] {"", "\"event_id\": \"\"", "\"event_id\": \"  \"", "\"event_id\": null"}) {
            HttpReply refused = ProblemResponseChecks.expect(
                    admin().unkeyed("derived", data(members)), 400, "idempotency-key-required");
            assertTrue(String.valueOf(refused.header("Link")).contains("describedby"), refused::toString);
            assertTrue(refused.has("spec"), refused.body());
        }
        ProblemResponseChecks.expect(
                admin().unkeyed("derived", data("\"event_id\": [\"" + ServerFixture.CANARY + "\"]")),
                400,
                "idempotency-key-invalid");
        ProblemResponseChecks.expect(
                admin().unkeyed("derived", data("\"event_id\": \"caf\u00e9 " + ServerFixture.CANARY + "\"")),
                400,
                "idempotency-key-invalid");
        assertEquals(before, stage.rows());
    }

    @Test
    void the_default_key_written_out_is_no_derived_key() {
        HttpReply one = started(admin().unkeyed("payment_receipt", data("")));
        HttpReply two = started(admin().unkeyed("payment_receipt", data("")));
        assertNotEquals(one.runId(), two.runId());
    }

    @Test
    void bare_and_quoted_are_the_same_key() {
        String key = plain();
        HttpReply reply = started(admin().trigger("plain", key, data("")));
        assertEquals(key, reply.header("Idempotency-Key"));
        for (String spelling : new String[] {
            "\"" + key + "\"", "  " + key + "  ", "\"" + key + "\";a=1", "\"" + key + "\"; b ", "\t\"" + key + "\""
        }) {
            replay(reply, admin().trigger("plain", spelling, data("")));
        }
        assertEquals(reply.runId(), admin().get("/v1/keys/" + key).text("run_id"));
    }

    @Test
    void a_key_that_cannot_be_bare_is_echoed_quoted() {
        plain();
        HttpReply quote = started(admin().trigger("plain", "\"\\\"q\\\\" + stage + "\"", data("")));
        assertEquals("\"\\\"q\\\\" + stage + "\"", quote.header("Idempotency-Key"));
        replay(quote, admin().trigger("plain", String.valueOf(quote.header("Idempotency-Key")), data("")));
        HttpReply space = started(admin().trigger("plain", "\" led by a space\"", data("")));
        assertEquals("\" led by a space\"", space.header("Idempotency-Key"));
        HttpReply reply = started(admin().trigger("plain", "led by a space", data("")));
        assertNotEquals(space.runId(), reply.runId());
    }

    @Test
    void keys_are_compared_byte_by_byte() {
        plain();
        HttpReply lower = started(admin().trigger("plain", "evt_case", data("")));
        for (String other :
                new String[] {"EVT_CASE", "evt_case.", "evt_cas", "evt%5fcase", "evt_case/x", "evt  case"}) {
            assertNotEquals(
                    lower.runId(),
                    started(admin().trigger("plain", other, data(""))).runId());
        }
        replay(lower, admin().trigger("plain", "evt_case", data("")));
        String longest = "k".repeat(255);
        HttpReply first = started(admin().trigger("plain", longest, data("")));
        replay(first, admin().trigger("plain", "\"" + longest + "\"", data("")));
        assertEquals(first.runId(), admin().get("/v1/keys/" + longest).text("run_id"));
    }

    @Test
    void no_body_means_no_data() {
        plain();
        HttpReply reply = started(admin().send("POST", "/v1/workflows/plain/trigger", ""));
        assertEquals("{}", run(reply).get("input").toString());
        HttpReply empty = started(admin().unkeyed("plain", "{}"));
        assertEquals("{}", run(empty).get("input").toString());
        String key = stage.key();
        HttpReply keyed = started(admin().send("POST", "/v1/workflows/plain/trigger", "", "Idempotency-Key: " + key));
        replay(keyed, admin().trigger("plain", key, "{\"data\": {}}"));
    }

    @Test
    void members_beside_data_are_ignored_and_listed() {
        plain();
        HttpReply reply = started(
                admin().unkeyed("plain", "{\"data\": {\"a\": 1}, \"task_id\": \"" + ServerFixture.CANARY + "\"}"));
        assertEquals(1, reply.json().get("warnings").size());
        assertTrue(reply.json().at("/warnings/0").asString().contains("task_id"), reply.body());
        assertTrue(!reply.body().contains(ServerFixture.CANARY), reply.body());
        assertEquals("{\"a\":1}", run(reply).get("input").toString());
    }

    @Test
    void a_payload_without_data_is_400_that_says_where_it_belongs() {
        String key = plain();
        HttpReply reply = ProblemResponseChecks.expect(
                admin().trigger("plain", key, "{\"task_id\": \"" + ServerFixture.CANARY + "\"}"), 400, "invalid-input");
        assertTrue(reply.text("detail").contains("\"data\""), reply.body());
        started(admin().trigger("plain", key, "{\"data\": {\"task_id\": \"t\"}}"));
    }

    @Test
    void a_correlation_id_is_kept_with_run_and_key() {
        String key = plain();
        HttpReply reply = started(admin().trigger("plain", key, "{\"data\": {}, \"correlation_id\": \"trace-1\"}"));
        assertEquals("trace-1", run(reply).get("correlation_id").asString());
        assertEquals("trace-1", admin().get("/v1/keys/" + key).text("correlation_id"));
        for (String bad : new String[] {"\"\"", "5", "\"a\\nb\"", "\"" + "c".repeat(256) + "\""}) {
            HttpReply refused = admin().unkeyed("plain", "{\"correlation_id\": " + bad + "}");
            assertEquals(
                    "/correlation_id",
                    ProblemResponseChecks.expect(refused, 400, "invalid-input")
                            .json()
                            .at("/errors/0/pointer")
                            .asString());
        }
    }

    @Test
    void the_two_bodies_of_the_first_seed_complete() {
        HttpReply task = admin().post(
                        "/v1/workflows/payment_receipt/trigger?wait=60s",
                        "{\"data\": {\"task_id\": \"t_abc123\"}}",
                        "Idempotency-Key: unique-event-id-123");
        assertEquals("completed", task.expect(200).text("status"));
        String body = "{\"data\": {\"payment_id\": \"pay_abc\", \"amount\": 4900, \"currency\": \"usd\"}}";
        HttpReply first = started(admin().trigger("payment_receipt", "evt_1OtV4z2eZvKYlo2C3BXGKQ8", body));
        for (int retry = 0; retry < 2; retry++) {
            replay(first, admin().trigger("payment_receipt", "evt_1OtV4z2eZvKYlo2C3BXGKQ8", body));
        }
        HttpReply ended = admin().post(
                        "/v1/workflows/payment_receipt/trigger?wait=60s",
                        body,
                        "Idempotency-Key: evt_1OtV4z2eZvKYlo2C3BXGKQ8");
        assertEquals("completed", replay(first, ended).text("status"));
        assertTrue(ended.json().at("/output/receipt").asString().contains("pay_abc"), ended.body());
        HttpReply other =
                admin().trigger("payment_receipt", "evt_1OtV4z2eZvKYlo2C3BXGKQ8", body.replace("4900", "4901"));
        assertEquals(
                "[\"amount\"]",
                ProblemResponseChecks.expect(other, 422, "idempotency-key-conflict")
                        .json()
                        .get("changed")
                        .toString());
    }

    private JsonNode run(HttpReply reply) {
        return admin().get("/v1/runs/" + reply.runId()).expect(200).json();
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    /** Publishes the plain workflow, and gives a key to use it with. */
    private String plain() {
        admin().publish(flow("plain")).expect(200);
        return stage.key();
    }
}
