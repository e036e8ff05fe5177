package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Webhooks: what is not signed changes nothing unseen, and CloudEvents in all their modes. */
class WebhookTamperingTest extends OnBothStores {
    private static final String TOKEN = "a long bearer token";

    WebhookTamperingTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String hook(String name, String secret, String members) {
        admin().put("/v1/secrets/" + name, "{\"value\":\"" + secret + "\"}").expect(200);
        return admin().put("/v1/webhooks/" + name, "{" + members + ",\"secrets\":[\"" + name + "\"]}")
                .expect(200)
                .json()
                .get("path")
                .asString();
    }

    private HttpReply post(String path, String body, List<String> headers) {
        ApiCaller provider = new ApiCaller(admin().port(), "", admin().heard());
        return provider.send("POST", path, body, headers.toArray(String[]::new));
    }

    private void subscribe(String workflow, String type, String source) {
        admin().publish("""
            semel: 1
            workflow: %s
            owner: o
            trigger:
              events: [{ type: "%s", source: "%s", data: { note: "${ string(event.id) }" } }]
            steps:
              - {id: note, set: {ok: true}}
            """.formatted(workflow, type, source)).expect(200);
    }

    private List<String> verdicts(String webhook) {
        List<String> verdicts = new ArrayList<>();
        admin().get("/v1/webhooks/" + webhook + "/deliveries")
                .expect(200)
                .json()
                .get("items")
                .forEach(item -> verdicts.addFirst(item.get("outcome").asString()));
        return verdicts;
    }

    @Test
    void a_captured_delivery_under_another_type_is_flagged_or_rejected() {
        for (String reuse : List.of("flag", "reject")) {
            String name = "type." + reuse;
            String path = hook(name, "s3cret", "\"preset\":\"github\",\"signature_reuse\":\"" + reuse + "\"");
            WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest("guid-1", 0, "{\"ref\":\"main\"}");
            List<String> genuine = WebhookProvider.GITHUB.sign("s3cret", sent);
            post(path, sent.body(), genuine).expect(200);
            post(path, sent.body(), genuine).expect(200);
            List<String> renamed = genuine.stream()
                    .map(line -> line.replace("X-GitHub-Event: push", "X-GitHub-Event: release"))
                    .toList();
            HttpReply captured = post(path, sent.body(), renamed);
            if (reuse.equals("reject")) {
                ProblemResponseChecks.expect(captured, 409, "webhook-signature-reused");
            }
            assertEquals(
                    List.of("accepted", "replayed", reuse.equals("reject") ? "rejected" : "flagged"), verdicts(name));
        }
    }

    private List<String> runsOf(String workflow) {
        List<String> runs = new ArrayList<>();
        admin().get("/v1/workflows/" + workflow + "/runs")
                .expect(200)
                .json()
                .get("items")
                .forEach(item -> runs.add(item.get("run_id").asString()));
        return runs;
    }

    @Test
    void a_captured_delivery_under_another_id_is_a_replayed_request_of_the_first() {
        for (WebhookProvider provider : List.of(WebhookProvider.GITHUB, WebhookProvider.SHOPIFY)) {
            String name = "captured_" + provider.word();
            String path = hook(name, provider.secret, provider.document.substring(1));
            subscribe(name, "*", name);
            WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest("id-1", 0, "{\"ref\":\"main\"}");
            HttpReply first = post(path, sent.body(), provider.sign(provider.secret, sent))
                    .expect(200);
            for (int copy = 2; copy < 5; copy++) {
                WebhookProvider.SignedRequest captured =
                        new WebhookProvider.SignedRequest("id-" + copy, 0, sent.body());
                HttpReply again = post(path, captured.body(), provider.sign(provider.secret, captured))
                        .expect(200);
                assertEquals("true", again.header("X-Idempotent-Replayed"), again::body);
                assertTrue(again.json().get("idempotent_replayed").asBoolean(), again::body);
                assertEquals(first.json().get("runs"), again.json().get("runs"));
            }
            assertEquals(1, runsOf(name).size(), name);
            assertEquals(List.of("accepted", "replayed", "replayed", "replayed"), verdicts(name));
        }
    }

    @Test
    void a_captured_delivery_under_invented_types_is_a_replayed_request_of_the_first() {
        for (WebhookProvider provider : List.of(WebhookProvider.GITHUB, WebhookProvider.SHOPIFY)) {
            assertRetyped(provider, "", List.of("accepted", "replayed", "replayed"));
        }
    }

    @Test
    void a_webhook_may_accept_a_signature_once_with_each_type() {
        assertRetyped(
                WebhookProvider.SHOPIFY,
                ",\"signature_reuse\":\"replay_same_type\"",
                List.of("accepted", "flagged", "replayed"));
    }

    private void assertRetyped(WebhookProvider provider, String reuse, List<String> outcomes) {
        String name = (reuse.isEmpty() ? "retyped_" : "by_type_") + provider.word();
        String path = hook(name, provider.secret, provider.document.substring(1) + reuse);
        subscribe(name, "*", name);
        WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest("id-1", 0, "{\"ref\":\"main\"}");
        post(path, sent.body(), provider.sign(provider.secret, sent)).expect(200);
        for (int copy = 2; copy < 4; copy++) {
            WebhookProvider.SignedRequest captured = new WebhookProvider.SignedRequest("id-" + copy, 0, sent.body());
            List<String> retyped = provider.sign(provider.secret, captured).stream()
                    .map(line -> line.matches("(X-GitHub-Event|X-Shopify-Topic): .*")
                            ? line.replaceFirst(": .*", ": other")
                            : line)
                    .toList();
            post(path, captured.body(), retyped).expect(200);
        }
        assertEquals(
                outcomes.stream().filter(one -> !one.equals("replayed")).count(),
                runsOf(name).size(),
                name);
        assertEquals(outcomes, verdicts(name));
    }

    @Test
    void an_unsigned_content_type_does_not_change_how_a_body_is_read() {
        String path = hook("form.stripe", WebhookProvider.STRIPE.secret, "\"preset\":\"stripe\"");
        WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest(
                "", Instant.now().getEpochSecond(), "{\"id\":\"evt_1\",\"type\":\"x\",\"n\":\"&id=evt_2\"}");
        List<String> lines = new ArrayList<>(WebhookProvider.STRIPE.sign(WebhookProvider.STRIPE.secret, sent));
        lines.add("Content-Type: application/x-www-form-urlencoded");
        assertEquals("evt_1", post(path, sent.body(), lines).expect(200).text("event_id"));
    }

    @Test
    void a_preset_without_a_webhook_has_a_sample_and_an_unknown_preset_has_none() {
        for (String preset : List.of("stripe", "github", "shopify", "slack", "meta", "standard", "cloudevents")) {
            JsonNode sample = admin().post("/v1/webhooks/" + preset + "/sample", "")
                    .expect(200)
                    .json();
            assertTrue(sample.get("path").isNull(), sample::toString);
            assertFalse(sample.get("headers").isEmpty(), sample::toString);
        }
        ProblemResponseChecks.expect(admin().post("/v1/webhooks/generic/sample", ""), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().post("/v1/webhooks/nothing/sample", ""), 404, "not-found");
    }

    @Test
    void an_id_too_long_for_an_index_is_recognized() {
        String path = hook("long", TOKEN, "\"preset\":\"cloudevents\",\"check\":\"bearer\"");
        String longest = "ü".repeat(1_000);
        String event =
                "{\"specversion\":\"1.0\",\"id\":\"" + longest + "\",\"source\":\"" + longest + "\",\"type\":\"t\"}";
        List<String> lines = List.of("Authorization: Bearer " + TOKEN, "Content-Type: application/cloudevents+json");
        assertFalse(post(path, event, lines).expect(200).flag("idempotent_replayed"));
        assertTrue(post(path, event, lines).expect(200).flag("idempotent_replayed"));
    }

    @Test
    void a_provider_payload_is_stored_only_with_its_delivery() {
        String canary = "what-was-said-" + stage;
        String path = hook("kept", WebhookProvider.STRIPE.secret, "\"preset\":\"stripe\",\"keep\":\"1h\"");
        String body = "{\"id\":\"evt_7\",\"type\":\"paid\",\"text\":\"" + canary + "\"}";
        WebhookProvider.SignedRequest sent =
                new WebhookProvider.SignedRequest("", Instant.now().getEpochSecond(), body);
        HttpReply first = post(path, body, WebhookProvider.STRIPE.sign(WebhookProvider.STRIPE.secret, sent))
                .expect(200);
        assertEquals(0, stage.count("SELECT count(*) FROM semel_event WHERE body LIKE '%" + canary + "%'"));
        String event = admin().get("/v1/events?source=kept&id=evt_7")
                .expect(200)
                .json()
                .at("/items/0/event_id")
                .asString();
        subscribe("kept_late", "paid", "kept");
        JsonNode again = admin().post("/v1/events/" + event + "/reprocess", "{}")
                .expect(200)
                .json();
        assertEquals(1, again.get("runs").size(), again::toString);
        assertEquals("evt_7", first.text("event_id"));
    }

    @Test
    void a_cloudevent_in_binary_mode_is_the_same_event() {
        String path = hook("binary", TOKEN, "\"preset\":\"cloudevents\",\"check\":\"bearer\"");
        subscribe("binary_flow", "shop.paid", "binary:/shop");
        List<String> lines = List.of(
                "Authorization: Bearer " + TOKEN,
                "Content-Type: application/json",
                "ce-specversion: 1.0",
                "ce-id: %62-1",
                "ce-source: /shop",
                "ce-type: shop.paid");
        HttpReply binary = post(path, "{\"amount\":1}", lines).expect(200);
        assertEquals(1, binary.json().get("run_ids").size(), binary.body());
        HttpReply structured = post(
                        path,
                        "{\"specversion\":\"1.0\",\"id\":\"b-1\",\"source\":\"/shop\",\"type\":\"shop.paid\"}",
                        List.of("Authorization: Bearer " + TOKEN, "Content-Type: application/cloudevents+json"))
                .expect(200);
        assertEquals(binary.json().get("run_ids"), structured.json().get("run_ids"));
        assertTrue(structured.flag("idempotent_replayed"));
        List<String> bad = lines.stream()
                .map(line -> line.replace("ce-id: %62-1", "ce-id: %C0%A0"))
                .toList();
        ProblemResponseChecks.expect(post(path, "{}", bad), 400, "invalid-input");
    }

    @Test
    void changed_headers_do_not_make_a_captured_cloudevent_a_new_one() {
        String path = hook("signed", WebhookProvider.STANDARD.secret, "\"preset\":\"cloudevents\"");
        String event = "{\"specversion\":\"1.0\",\"id\":\"s-1\",\"source\":\"/shop\",\"type\":\"shop.paid\"}";
        WebhookProvider.SignedRequest sent =
                new WebhookProvider.SignedRequest("msg_1", Instant.now().getEpochSecond(), event);
        List<String> lines = new ArrayList<>(WebhookProvider.STANDARD.sign(WebhookProvider.STANDARD.secret, sent));
        lines.addAll(List.of("ce-specversion: 1.0", "ce-id: s-2", "ce-source: /shop", "ce-type: shop.refunded"));
        String named = post(path, event, lines).expect(200).text("event_id");
        assertTrue(named.contains("s-1"), named);
        WebhookProvider.SignedRequest data =
                new WebhookProvider.SignedRequest("msg_2", Instant.now().getEpochSecond(), "{\"amount\":1}");
        List<String> binary = new ArrayList<>(WebhookProvider.STANDARD.sign(WebhookProvider.STANDARD.secret, data));
        binary.addAll(List.of("ce-specversion: 1.0", "ce-id: s-3", "ce-source: /shop", "ce-type: shop.paid"));
        post(path, data.body(), binary).expect(200);
        List<String> renamed = binary.stream()
                .map(line -> line.replace("ce-id: s-3", "ce-id: s-4"))
                .toList();
        post(path, data.body(), renamed).expect(200);
        assertEquals(List.of("accepted", "accepted", "replayed"), verdicts("signed"));
    }

    @Test
    void each_event_of_a_batch_has_its_result_and_a_bad_one_fails_no_other() {
        String path = hook("batch", TOKEN, "\"preset\":\"cloudevents\",\"check\":\"bearer\"");
        subscribe("batch_flow", "shop.paid", "batch:/shop");
        String events = IntStream.range(0, 5)
                .mapToObj(i ->
                        "{\"specversion\":\"1.0\",\"id\":\"n" + i + "\",\"source\":\"/shop\",\"type\":\"shop.paid\"}")
                .collect(Collectors.joining(",", "[", ",{\"specversion\":\"1.0\",\"id\":\"n9\"}]"));
        List<String> lines =
                List.of("Authorization: Bearer " + TOKEN, "Content-Type: application/cloudevents-batch+json");
        HttpReply first = post(path, events, lines).expect(200);
        HttpReply again = post(path, events, lines).expect(200);
        for (int i = 0; i < 6; i++) {
            JsonNode item = first.json().get("items").get(i);
            assertEquals(i < 5 ? 200 : 400, item.get("status_code").asInt(), first.body());
            if (i < 5) {
                assertFalse(item.get("idempotent_replayed").asBoolean());
                assertEquals(1, item.get("run_ids").size());
                assertEquals(
                        item.get("run_ids"), again.json().get("items").get(i).get("run_ids"));
                assertTrue(again.json()
                        .get("items")
                        .get(i)
                        .get("idempotent_replayed")
                        .asBoolean());
            }
        }
    }
}
