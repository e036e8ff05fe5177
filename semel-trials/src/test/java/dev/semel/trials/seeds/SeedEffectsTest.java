package dev.semel.trials.seeds;

import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import jakarta.mail.MessagingException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Statements of the seeds about steps, effects and messages that no other test tries. */
class SeedEffectsTest extends OnDevServers {
    private static final HttpReceiver receiver = new HttpReceiver();

    SeedEffectsTest(ServerFixture stage) {
        super(stage);
    }

    @AfterAll
    static void close() {
        receiver.close();
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    /** The same path on each store would mix the requests of the two servers. */
    private String path(String path) {
        return "/" + stage + path;
    }

    private String url(String path) {
        return receiver.url(path(path));
    }

    private List<HttpReceiver.ReceivedRequest> at(String path) {
        return receiver.at(path(path));
    }

    private void publish(String name, String steps) {
        admin().publish("semel: 1\nworkflow: " + name + "\nowner: trials\nsteps:\n" + steps)
                .expect(200);
    }

    private HttpReply run(String workflow, String key, String data) {
        return admin().post(
                        "/v1/workflows/" + workflow + "/trigger?wait=60s",
                        "{\"data\": " + data + "}",
                        "Idempotency-Key: " + key)
                .expect(200);
    }

    private HttpReply ended(String workflow, String status, String data) {
        HttpReply reply = run(workflow, stage.key(), data);
        assertEquals(
                status,
                reply.text("status"),
                () -> admin().get("/v1/runs/" + reply.runId()).body());
        return reply;
    }

    @Test
    void a_charge_and_a_receipt_are_sent_as_the_example_sends_them() {
        admin().put("/v1/secrets/STRIPE_SECRET_KEY", "{\"value\": \"sk_test_51abcdef\"}")
                .expect(200);
        publish("charge_customer", """
              - id: charge
                http:
                  method: POST
                  url: %s
                  auth: ${ secret.STRIPE_SECRET_KEY }
                  form: { amount: "${ input.amount }", currency: usd, customer: "${ input.customer_id }" }
                protect: provider_key
                provider_window: 24h
              - id: receipt
                http:
                  method: POST
                  url: %s
                  body: { customerId: "${ input.customer_id }", chargeId: "${ steps.charge.id }" }
                protect: provider_key
                provider_window: 24h
            output: { customerId: "${ input.customer_id }", chargeId: "${ steps.charge.id }", status: completed }
            """.formatted(url("/v1/charges"), url("/receipts")));
        receiver.answer(path("/v1/charges"), 200, "{\"id\": \"ch_1\"}");
        HttpReply reply = ended("charge_customer", "completed", "{\"customer_id\": \"cus_1\", \"amount\": 4900}");
        assertEquals(
                "{\"customerId\":\"cus_1\",\"chargeId\":\"ch_1\",\"status\":\"completed\"}",
                reply.json().get("output").toString());
        HttpReceiver.ReceivedRequest charge = at("/v1/charges").getFirst();
        assertEquals("Bearer sk_test_51abcdef", charge.authorization());
        assertEquals("application/x-www-form-urlencoded", charge.type());
        assertEquals("amount=4900&currency=usd&customer=cus_1", charge.body());
        assertNotNull(charge.key());
        HttpReceiver.ReceivedRequest receipt = at("/receipts").getFirst();
        assertEquals("{\"customerId\":\"cus_1\",\"chargeId\":\"ch_1\"}", receipt.body());
        assertNotNull(receipt.key());
        assertFalse(receipt.key().equals(charge.key()), "each step has its own key");
        String timeline = admin().get("/v1/runs/" + reply.runId() + "/timeline").body();
        assertFalse(timeline.contains("sk_test_51abcdef"), timeline);

        receiver.answer(path("/v1/charges"), 402, "{\"error\": {\"message\": \"card declined\"}}");
        HttpReply failed = ended("charge_customer", "failed", "{\"customer_id\": \"cus_2\", \"amount\": 1}");
        assertEquals("charge", failed.json().at("/error/step").asString(), failed.body());
        assertEquals(1, at("/receipts").size(), "no receipt for a declined card");
    }

    @Test
    void a_status_409_is_a_success_only_if_the_step_declares_it() {
        String step = """
              - id: create
                http: { method: POST, url: "%s", result: "${ response.body.id }" }
                protect: ask
                retry: { attempts: 1 }
            """.formatted(url("/known"));
        publish("declares_409", step + "    already_done_status: [409]\noutput: ${ steps.create }\n");
        publish("undeclared_409", step);
        receiver.answer(path("/known"), 409, "{\"id\": \"old\"}");
        assertEquals(
                "old",
                ended("declares_409", "completed", "{}").json().get("output").asString());
        receiver.answer(path("/known"), 409, "{\"id\": \"old\"}");
        HttpReply reply =
                admin().trigger("undeclared_409", stage.key(), "{\"data\": {}}").expect(200);
        ConcurrentCalls.until("the run asks or ends", () -> {
            String status = admin().get("/v1/runs/" + reply.runId()).text("status");
            assertFalse(status.equals("completed"), status);
            return status.equals("in_doubt") || status.equals("failed");
        });
        admin().post("/v1/runs/" + reply.runId() + "/cancel", "{}");
    }

    @Test
    void create_update_and_notify_are_told_apart() {
        String to = url("/kinds");
        publish("kinds", """
              - { id: post, http: { method: POST, url: "URL" }, protect: ask }
              - { id: put, http: { method: PUT, url: "URL" }, protect: ask }
              - { id: patch, http: { method: PATCH, url: "URL" }, protect: ask }
              - { id: delete, http: { method: DELETE, url: "URL" }, protect: ask }
              - { id: declared, http: { method: POST, url: "URL" }, does: notify, protect: ask }
            """.replace("URL", to));
        Map<String, String> does = new TreeMap<>();
        admin().get("/v1/workflows/kinds")
                .json()
                .path("effects")
                .forEach(effect -> does.put(
                        effect.path("step").asString(), effect.path("does").asString()));
        assertEquals(
                Map.of("post", "create", "put", "update", "patch", "update", "delete", "update", "declared", "notify"),
                does);
    }

    @Test
    void an_update_with_equal_data_is_suppressed_and_with_other_data_sent() {
        publish("ticket_state", """
              - id: set_state
                http: { method: PUT, url: "%s", body: { state: "${ input.state }" } }
                idempotent: { key: "${ key('ticket', input.ticket) }", time: 1, unit: hours }
                protect: ask
            """.formatted(url("/tickets/7")));
        for (String state : List.of("open", "open", "closed")) {
            ended("ticket_state", "completed", "{\"ticket\": 7, \"state\": \"" + state + "\"}");
        }
        assertEquals(
                List.of("{\"state\":\"open\"}", "{\"state\":\"closed\"}"),
                at("/tickets/7").stream()
                        .map(HttpReceiver.ReceivedRequest::body)
                        .toList());
    }

    @Test
    void an_invoice_mail_is_one_for_each_invoice_recipient_and_template_version() {
        admin().put("/v1/channels/letters", "{\"kind\": \"webhook\", \"url\": \"" + url("/letters") + "\"}")
                .expect(200);
        admin().put("/v1/templates/invoice", "{\"channel\": \"webhook\", \"text\": \"Invoice {{ id }}\"}")
                .expect(200);
        publish("invoice", """
              - id: mail
                send: { channel: letters, to: "${ input.to }", template: invoice, data: { id: "${ input.id }" } }
                idempotent:
                  key: ${ key("invoice", input.id, lower(input.to), input.template) }
                  time: 30
                  unit: days
                protect: at_most_once
            """);
        String first = "{\"id\": \"i1\", \"to\": \"ann@acme.example\", \"template\": 1}";
        for (String data : List.of(
                first,
                first,
                first.replace("i1", "i2"),
                first.replace("ann", "bob"),
                first.replace("\"template\": 1", "\"template\": 2"),
                first)) {
            ended("invoice", "completed", data);
        }
        assertEquals(4, at("/letters").size());
    }

    @Test
    void a_batch_that_failed_half_way_may_be_sent_whole_again() {
        publish("import", """
              - { id: create, http: { method: POST, url: "%s" }, protect: ask }
              - { id: inform, http: { method: POST, url: "%s" }, protect: ask }
            """.formatted(url("/create"), url("/inform")));
        receiver.answer(path("/inform"), 400, "{}");
        receiver.answer(path("/inform"), 400, "{}");
        String batch = "{\"items\": [{\"key\": \"b1\"}, {\"key\": \"b2\"}, {\"key\": \"b3\"}, {\"key\": \"b4\"}]}";
        JsonNode items = admin().post("/v1/workflows/import/trigger-batch", batch)
                .expect(200)
                .json()
                .path("items");
        items.forEach(item -> ConcurrentCalls.until("the run has ended", () -> {
            HttpReply one = admin().get("/v1/runs/" + item.path("run_id").asString());
            return !one.json().path("ended_at").isNull();
        }));
        assertEquals(4, at("/create").size());
        assertEquals(4, at("/inform").size());
        JsonNode again = admin().post("/v1/workflows/import/trigger-batch", batch)
                .expect(200)
                .json()
                .path("items");
        int failed = 0;
        for (int i = 0; i < 4; i++) {
            assertTrue(again.get(i).path("idempotent_replayed").asBoolean(), again::toString);
            assertEquals(items.get(i).path("run_id"), again.get(i).path("run_id"));
            failed += again.get(i).path("status").asString().equals("failed") ? 1 : 0;
        }
        assertEquals(2, failed);
        assertEquals(8, at("/create").size() + at("/inform").size(), "sending the batch again calls nobody");
    }

    @Test
    void a_safe_replay_of_a_completed_run_calls_nobody() {
        publish("finished", """
              - { id: order, http: { method: POST, url: "%s" }, protect: ask }
              - { id: mail, http: { method: POST, url: "%s" }, does: notify, protect: ask }
            """.formatted(url("/finished"), url("/finished")));
        HttpReply run = ended("finished", "completed", "{}");
        HttpReply plan = admin().post("/v1/replays", "{\"runs\": [\"" + run.runId() + "\"]}")
                .expect(200);
        assertEquals(2, plan.json().at("/actions/reuse/steps").asInt(), plan.body());
        admin().post("/v1/replays/" + plan.text("replay_id") + "/apply", "{}").expect(200);
        ConcurrentCalls.until(
                "the replay has ended",
                () -> admin().get("/v1/replays/" + plan.text("replay_id"))
                        .json()
                        .at("/progress/verified")
                        .asBoolean());
        assertEquals(2, at("/finished").size());
    }

    @Test
    void a_text_message_whose_response_is_lost_is_sent_again_with_the_same_key() {
        admin().put("/v1/channels/texts", """
            {"kind": "sms", "http": {"url": "%s", "key_header": "Idempotency-Key", "body": {"to": "{{ to }}"}},
             "honours": ["provider_key"], "provider_window": "24h", "message_id": "/id"}
            """.formatted(url("/texts"))).expect(200);
        admin().put("/v1/templates/code", "{\"channel\": \"sms\", \"text\": \"Your code\"}")
                .expect(200);
        publish("texting", """
              - id: text
                send: { channel: texts, to: "+4930123456", template: code }
                protect: provider_key
                provider_window: 24h
                retry: { attempts: 3, first: 1s, factor: 1 }
            """);
        receiver.answer(path("/texts"), HttpReceiver.LOST, "");
        String key = stage.key();
        HttpReply first = started(admin().trigger("texting", key, "{\"data\": {}}"));
        HttpReply ended = replay(first, run("texting", key, "{}"));
        assertEquals("completed", ended.text("status"));
        assertEquals(2, at("/texts").size());
        assertEquals(
                1,
                at("/texts").stream()
                        .map(HttpReceiver.ReceivedRequest::key)
                        .distinct()
                        .count());
    }

    @Test
    void time_and_unit_of_a_window_have_limits_that_are_reported_with_their_place() {
        String step = """
              - id: mail
                http: { method: POST, url: "%s" }
                idempotent: { key: "${ input.id }", time: TIME, unit: UNIT }
                protect: ask
            """.formatted(url("/none"));
        for (String fine : List.of("1 seconds", "24 hours", "365 days", "90 minutes")) {
            publish("windows", step.replace("TIME", fine.split(" ")[0]).replace("UNIT", fine.split(" ")[1]));
        }
        for (String wrong : List.of("0 seconds", "-1 hours", "400 days", "2 weeks", "1.5 hours")) {
            HttpReply rejected = admin().publish("semel: 1\nworkflow: windows\nowner: trials\nsteps:\n"
                    + step.replace("TIME", wrong.split(" ")[0]).replace("UNIT", wrong.split(" ")[1]));
            rejected.expect(400);
            assertEquals("invalid-definition", rejected.text("code"));
            assertEquals(7, rejected.json().at("/errors/0/line").asInt(), rejected.body());
        }
    }

    @Test
    void an_effect_key_may_be_long_and_one_beyond_the_limit_fails_its_run() {
        String step = """
              - id: mail
                http: { method: POST, url: "%s" }
                idempotent: { key: "${ input.id }", time: 1, unit: hours }
                protect: ask
            """;
        publish("long_keys", step.formatted(url("/long")));
        String long2000 = "{\"id\": \"" + "k".repeat(2_000) + "\"}";
        ended("long_keys", "completed", long2000);
        HttpReply second = ended("long_keys", "completed", long2000);
        assertEquals(1, at("/long").size(), second.body());
        HttpReply failed = ended("long_keys", "failed", "{\"id\": \"" + "k".repeat(70_000) + "\"}");
        assertEquals("invalid-input", failed.json().at("/error/code").asString(), failed.body());
        assertEquals(1, at("/long").size());
    }

    @Test
    void an_override_names_its_channel_and_reaches_the_mail() throws MessagingException {
        GreenMail mails = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mails.start();
        try {
            admin().put("/v1/channels/mail", """
                {"kind": "email", "smtp": {"host": "127.0.0.1", "port": %d, "security": "none", "from": "a@acme.example"}}
                """.formatted(mails.getSmtp().getPort()))
                    .expect(200);
            admin().put("/v1/templates/hi", "{\"channel\": \"email\", \"subject\": \"Hi\", \"text\": \"Hello\"}")
                    .expect(200);
            String step = """
                  - id: mail
                    send: { channel: mail, to: ann@acme.example, template: hi }
                    protect: at_most_once
                    overrides: OVERRIDES
                """;
            publish("overriding", step.replace("OVERRIDES", "{ mail: { reply_to: help@acme.example } }"));
            ended("overriding", "completed", "{}");
            assertEquals("help@acme.example", mails.getReceivedMessages()[0].getReplyTo()[0].toString());
            for (String wrong : List.of("{ reply_to: help@acme.example }", "{ email: { reply_to: a@b.example } }")) {
                HttpReply rejected = admin().publish("semel: 1\nworkflow: overriding\nowner: trials\nsteps:\n"
                        + step.replace("OVERRIDES", wrong));
                rejected.expect(400);
                assertEquals(8, rejected.json().at("/errors/0/line").asInt(), rejected.body());
            }
            publish("computing", step.replace("OVERRIDES", "\"${ input.overrides }\""));
            ended("computing", "completed", "{\"overrides\": {\"mail\": {\"reply_to\": \"b@acme.example\"}}}");
            ended("computing", "failed", "{\"overrides\": {\"reply_to\": \"b@acme.example\"}}");
            assertEquals(2, mails.getReceivedMessages().length, "a mail without its override is not sent");
        } finally {
            mails.stop();
        }
    }

    @Test
    void a_batch_over_the_members_of_a_cohort_sends_each_of_them_one_message() {
        admin().put("/v1/channels/spring", "{\"kind\": \"webhook\", \"url\": \"" + url("/spring") + "\"}")
                .expect(200);
        admin().put("/v1/templates/spring", "{\"channel\": \"webhook\", \"text\": \"Spring\"}")
                .expect(200);
        admin().put("/v1/cohorts/paying", "{}").expect(200);
        for (String id : List.of("cus_1", "cus_2", "cus_3")) {
            admin().put("/v1/profiles/" + id, "{\"email\": \"" + id + "@acme.example\"}")
                    .expect(200);
            admin().put("/v1/cohorts/paying/members/" + id, "{}").expect(200);
        }
        publish("spring_offer", """
              - id: tell
                send: { channel: spring, to: "${ input.profile }", template: spring }
                protect: at_most_once
            """);
        String items = "";
        for (JsonNode member :
                admin().get("/v1/cohorts/paying/members").expect(200).json().path("items")) {
            String id = member.path("profile_id").asString();
            items += ",{\"key\": \"spring-2026/" + id + "\", \"data\": {\"profile\": \"" + id + "\"}}";
        }
        for (int sent = 0; sent < 2; sent++) {
            JsonNode batch = admin().post(
                            "/v1/workflows/spring_offer/trigger-batch", "{\"items\": [" + items.substring(1) + "]}")
                    .expect(200)
                    .json();
            batch.path("items")
                    .forEach(item -> ConcurrentCalls.until(
                            "the run has ended",
                            () -> !admin().get("/v1/runs/" + item.path("run_id").asString())
                                    .json()
                                    .path("ended_at")
                                    .isNull()));
        }
        assertEquals(3, at("/spring").size());
    }
}
