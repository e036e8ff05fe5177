package dev.semel.trials.http;

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
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Provider webhooks over real HTTP; what is signed here is signed without any code of the server. */
class WebhooksTest extends OnBothStores {
    WebhooksTest(ServerFixture stage) {
        super(stage);
    }

    private void secret(String name, String value) {
        stage.admin()
                .put("/v1/secrets/" + name, "{\"value\":\"" + value + "\"}")
                .expect(200);
    }

    /** The path to post to. */
    private String hook(String name, String document, String... secrets) {
        String names = "\"" + String.join("\",\"", secrets) + "\"";
        HttpReply put = stage.admin().put("/v1/webhooks/" + name, document + ",\"secrets\":[" + names + "]}");
        return put.expect(200).json().get("path").asString();
    }

    private HttpReply post(String path, String body, List<String> headers) {
        List<String> lines = new ArrayList<>(headers);
        lines.add("Content-Type: application/json");
        ApiCaller provider =
                new ApiCaller(stage.admin().port(), "", stage.admin().heard());
        return provider.send("POST", path, body, lines.toArray(String[]::new));
    }

    private HttpReply deliver(String path, WebhookProvider provider, String id, LongFunction<Long> at) {
        long now = Instant.now().getEpochSecond();
        WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest(id, at.apply(now), provider.body(id));
        return post(path, sent.body(), provider.sign(provider.secret, sent));
    }

    private HttpReply deliver(String path, WebhookProvider provider, String id) {
        return deliver(path, provider, id, now -> now);
    }

    private List<String> verdicts(String webhook) {
        JsonNode items = stage.admin()
                .get("/v1/webhooks/" + webhook + "/deliveries")
                .expect(200)
                .json()
                .get("items");
        List<String> verdicts = new ArrayList<>();
        items.forEach(item -> verdicts.addFirst(item.get("outcome").asString()));
        return verdicts;
    }

    @ParameterizedTest
    @EnumSource
    void each_preset_distinguishes_first_retry_forged_stale_and_rotated(WebhookProvider provider) {
        String name = "all." + provider.word();
        secret(name, provider.secret);
        String path = hook(name, provider.document, name);
        HttpReply first = deliver(path, provider, "id_1").expect(200);
        assertFalse(first.json().get("idempotent_replayed").asBoolean(), first.body());
        assertNull(first.header("X-Idempotent-Replayed"));
        HttpReply retry = deliver(path, provider, "id_1").expect(200);
        assertTrue(retry.json().get("idempotent_replayed").asBoolean(), retry.body());
        assertEquals("true", retry.header("X-Idempotent-Replayed"));
        WebhookProvider.SignedRequest forged =
                new WebhookProvider.SignedRequest("id_2", Instant.now().getEpochSecond(), provider.body("id_2"));
        ProblemResponseChecks.expect(
                post(path, forged.body(), provider.sign(wrong(provider), forged)), 401, "webhook-signature-invalid");
        ProblemResponseChecks.expect(post(path, forged.body(), List.of()), 401, "webhook-signature-invalid");
        List<String> expected =
                new ArrayList<>(List.of("accepted", "replayed", "invalid_signature", "invalid_signature"));
        if (provider.timed) {
            for (LongFunction<Long> time : List.<LongFunction<Long>>of(now -> now - 360, now -> now + 86_400)) {
                ProblemResponseChecks.expect(
                        deliver(path, provider, "id_3", time), 401, "webhook-timestamp-out-of-tolerance");
                expected.add("stale");
            }
        }
        secret(name + ".new", provider == WebhookProvider.STANDARD ? "whsec_" + "A".repeat(32) : "the new secret");
        assertEquals(path, hook(name, provider.document, name + ".new", name), "rotating secrets keeps the path");
        deliver(path, provider, "id_4").expect(200);
        expected.add("accepted");
        hook(name, provider.document, name + ".new");
        ProblemResponseChecks.expect(deliver(path, provider, "id_5"), 401, "webhook-signature-invalid");
        expected.add("invalid_signature");
        assertEquals(expected, verdicts(name));
    }

    private static String wrong(WebhookProvider provider) {
        return provider == WebhookProvider.STANDARD ? "whsec_" + "B".repeat(32) : provider.secret + "!";
    }

    @ParameterizedTest
    @EnumSource
    void a_delivery_starts_the_subscribed_workflows_once(WebhookProvider provider) {
        String name = "runs." + provider.word();
        String source = provider == WebhookProvider.CLOUDEVENTS ? name + ":/shop" : name;
        stage.admin()
                .publish("""
                    semel: 1
                    workflow: hooked_%s
                    trigger:
                      events: [{ type: "%s", source: "%s" }]
                    steps:
                      - {id: note, set: {ok: true}}
                    """.formatted(provider.word(), provider.type, source))
                .expect(200);
        secret(name, provider.secret);
        String path = hook(name, provider.document, name);
        List<HttpReply> replies = ConcurrentCalls.atOnce(8, i -> deliver(path, provider, "id_1"));
        String run = replies.getFirst().expect(200).json().at("/run_ids/0").asString();
        assertTrue(run.startsWith("run_"), run);
        int fresh = 0;
        for (HttpReply reply : replies) {
            assertEquals(run, reply.expect(200).json().at("/run_ids/0").asString());
            fresh += reply.json().get("idempotent_replayed").asBoolean() ? 0 : 1;
        }
        assertEquals(1, fresh);
        JsonNode shown = stage.admin().get("/v1/runs/" + run).expect(200).json();
        assertEquals("webhook", shown.at("/trigger/kind").asString());
        assertEquals("webhook:" + source + "/id_1", shown.get("key").asString());
    }

    @Test
    void a_later_workflow_gets_a_kept_delivery_by_reprocessing() {
        secret("later", WebhookProvider.STRIPE.secret);
        String path = hook("later", "{\"preset\":\"stripe\"", "later");
        HttpReply first = deliver(path, WebhookProvider.STRIPE, "evt_9").expect(200);
        assertEquals(0, first.json().get("run_ids").size());
        stage.admin().publish("""
            semel: 1
            workflow: comes_later
            trigger:
              events: [{ type: payment_intent.succeeded, source: later }]
            steps:
              - {id: note, set: {ok: true}}
            """).expect(200);
        String again = "/v1/webhooks/later/deliveries/"
                + first.json().get("delivery_id").asString() + "/reprocess";
        HttpReply started = stage.admin().post(again, "").expect(200);
        assertEquals(1, started.json().get("run_ids").size());
        assertFalse(started.json().get("idempotent_replayed").asBoolean());
        HttpReply replayed = stage.admin().post(again, "").expect(200);
        assertEquals(started.json().get("run_ids"), replayed.json().get("run_ids"));
        assertTrue(replayed.json().get("idempotent_replayed").asBoolean());
        assertEquals(
                started.json().get("run_ids"),
                deliver(path, WebhookProvider.STRIPE, "evt_9")
                        .expect(200)
                        .json()
                        .get("run_ids"),
                "the provider's own retry finds the same run");
    }

    @Test
    void an_unknown_webhook_always_gets_the_same_response() {
        secret("known", "the secret");
        String path = hook("known", "{\"preset\":\"github\"", "known");
        String source = path.substring("/v1/webhooks/".length());
        assertTrue(source.matches("src_[0-9A-Za-z]{22}-[0-9]+-known"), source);
        String details = null;
        List<String> wrong = List.of(
                "src_nothing",
                source.replace("known", "other"),
                source.substring(0, 4) + "0".repeat(22) + source.substring(26),
                source.replaceAll("-[0-9]+-", "-999-"),
                "known");
        for (String one : wrong) {
            HttpReply reply = post("/v1/webhooks/" + one, "{}", List.of());
            ProblemResponseChecks.expect(reply, 404, "not-found");
            String said = reply.json().get("detail").asString()
                    + reply.json().get("fix").asString();
            assertEquals(details == null ? said : details, said);
            details = said;
        }
        stage.admin().delete("/v1/webhooks/known").expect(200);
        ProblemResponseChecks.expect(post(path, "{}", List.of()), 404, "not-found");
        assertFalse(path.equals(hook("known", "{\"preset\":\"github\"", "known")), "a new hook has a new path");
    }

    @Test
    void a_signature_reused_under_another_id_is_flagged_rejected_or_allowed() {
        secret("reuse", WebhookProvider.GITHUB.secret);
        for (String policy : List.of("flag", "reject", "allow")) {
            String webhook = "reuse." + policy;
            String path = hook(webhook, "{\"preset\":\"github\",\"signature_reuse\":\"" + policy + "\"", "reuse");
            WebhookProvider.SignedRequest first = new WebhookProvider.SignedRequest("guid-1", 0, "{\"ref\":\"main\"}");
            post(path, first.body(), WebhookProvider.GITHUB.sign(WebhookProvider.GITHUB.secret, first))
                    .expect(200);
            WebhookProvider.SignedRequest captured = new WebhookProvider.SignedRequest("guid-2", 0, first.body());
            HttpReply again =
                    post(path, captured.body(), WebhookProvider.GITHUB.sign(WebhookProvider.GITHUB.secret, captured));
            switch (policy) {
                case "flag" -> assertEquals(List.of("accepted", "flagged"), verdicts(webhook));
                case "reject" -> {
                    ProblemResponseChecks.expect(again, 409, "webhook-signature-reused");
                    assertEquals("false", again.header("x-should-retry"));
                    assertEquals(List.of("accepted", "rejected"), verdicts(webhook));
                }
                default -> assertEquals(List.of("accepted", "accepted"), verdicts(webhook));
            }
        }
    }

    @Test
    void slack_gets_its_challenge_only_with_a_valid_signature() {
        secret("challenge", WebhookProvider.SLACK.secret);
        String path = hook("challenge", "{\"preset\":\"slack\"", "challenge");
        String body = "{\"type\":\"url_verification\",\"challenge\":\"abc\"}";
        WebhookProvider.SignedRequest signedRequest =
                new WebhookProvider.SignedRequest("", Instant.now().getEpochSecond(), body);
        HttpReply answered = post(path, body, WebhookProvider.SLACK.sign(WebhookProvider.SLACK.secret, signedRequest))
                .expect(200);
        assertEquals("{\"challenge\":\"abc\"}", answered.body());
        ProblemResponseChecks.expect(
                post(path, body, WebhookProvider.SLACK.sign("other", signedRequest)), 401, "webhook-signature-invalid");
    }

    @Test
    void without_an_id_or_json_nothing_starts() {
        secret("bare", WebhookProvider.STRIPE.secret);
        String path = hook("bare", "{\"preset\":\"stripe\"", "bare");
        for (String body :
                List.of("{\"type\":\"x\"}", "{\"id\":{}}", "{\"id\":\"\"}", "{\"id\":", "", "{\"id\":1,\"id\":2}")) {
            WebhookProvider.SignedRequest sent =
                    new WebhookProvider.SignedRequest("", Instant.now().getEpochSecond(), body);
            ProblemResponseChecks.expect(
                    post(path, body, WebhookProvider.STRIPE.sign(WebhookProvider.STRIPE.secret, sent)),
                    400,
                    "invalid-input");
        }
    }

    @Test
    void a_chunked_body_is_the_same_body() {
        secret("chunked", WebhookProvider.GITHUB.secret);
        String path = hook("chunked", "{\"preset\":\"github\"", "chunked");
        WebhookProvider.SignedRequest sent = new WebhookProvider.SignedRequest("guid-1", 0, "{\"a\":1}");
        ApiCaller provider =
                new ApiCaller(stage.admin().port(), "", stage.admin().heard());
        List<String> lines = new ArrayList<>(WebhookProvider.GITHUB.sign(WebhookProvider.GITHUB.secret, sent));
        lines.add("Transfer-Encoding: chunked");
        try (dev.semel.trials.support.RawConnection wire =
                new dev.semel.trials.support.RawConnection(stage.admin().port())) {
            wire.send(provider.head("POST", path, lines.toArray(String[]::new))
                    + "\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n");
            wire.reply().expect(200);
        }
    }

    @Test
    void a_form_is_read_as_json() {
        secret("form", "form secret");
        String path = hook(
                "form",
                "{\"preset\":\"generic\",\"signature\":{\"header\":\"X-Sig\",\"algorithm\":\"sha1\",\"encoding\":\"base64\"},"
                    + "\"id\":{\"pointer\":\"/MessageSid\"}",
                "form");
        String body = "MessageSid=SM1&From=%2B4930123&Body=yes+please";
        ApiCaller provider =
                new ApiCaller(stage.admin().port(), "", stage.admin().heard());
        String signature = Base64.getEncoder()
                .encodeToString(WebhookProvider.hmac("HmacSHA1", "form secret".getBytes(StandardCharsets.UTF_8), body));
        HttpReply reply = provider.send(
                        "POST", path, body, "Content-Type: application/x-www-form-urlencoded", "X-Sig: " + signature)
                .expect(200);
        assertEquals("SM1", reply.json().get("event_id").asString());
        assertEquals(
                1,
                stage.count(
                        "SELECT count(*) FROM semel_webhook_delivery WHERE payload LIKE '%\"Body\":\"yes please\"%'"),
                "the text of the message is kept as JSON");
    }

    @Test
    void a_missing_secret_is_reported_as_not_ready() {
        String path = hook("unready", "{\"preset\":\"github\"", "nowhere");
        ProblemResponseChecks.expect(deliver(path, WebhookProvider.GITHUB, "guid-1"), 503, "webhook-not-ready");
        assertEquals(List.of("rejected"), verdicts("unready"));
    }

    @Test
    void forgeries_are_counted_up_to_a_limit_and_their_content_is_not_stored() {
        secret("flood", WebhookProvider.GITHUB.secret);
        String path = hook("flood", "{\"preset\":\"github\"", "flood");
        ConcurrentCalls.atOnce(8, i -> {
            for (int n = 0; n < 20; n++) {
                ProblemResponseChecks.expect(
                        post(path, "{\"a\":1}", List.of("X-Hub-Signature-256: sha256=00")),
                        401,
                        "webhook-signature-invalid");
            }
            return "";
        });
        long kept = stage.count("SELECT count(*) FROM semel_webhook_delivery WHERE webhook = 'flood'");
        assertTrue(
                kept >= 100 && kept < 200, "100 in an hour, and at most one more for each that is on its way: " + kept);
        assertEquals(
                0,
                stage.count(
                        "SELECT count(*) FROM semel_webhook_delivery WHERE webhook = 'flood' AND payload IS NOT NULL"));
    }

    @Test
    void of_many_concurrent_deliveries_one_is_the_first_and_the_rest_are_repeats() {
        secret("crowd", WebhookProvider.STRIPE.secret);
        String path = hook("crowd", "{\"preset\":\"stripe\"", "crowd");
        List<HttpReply> replies = ConcurrentCalls.atOnce(16, i -> deliver(path, WebhookProvider.STRIPE, "evt_crowd"));
        replies.forEach(reply -> reply.expect(200));
        assertEquals(
                1,
                replies.stream()
                        .filter(reply ->
                                !reply.json().get("idempotent_replayed").asBoolean())
                        .count());
        assertEquals(1, verdicts("crowd").stream().filter("accepted"::equals).count());
    }

    @Test
    void an_invalid_webhook_document_is_rejected() {
        for (String document : List.of(
                "{}",
                "{\"preset\":\"stripe\"}",
                "{\"preset\":\"paypal\",\"secrets\":[\"a\"]}",
                "{\"preset\":\"stripe\",\"secrets\":[\"whsec in clear!\"]}",
                "{\"preset\":\"stripe\",\"secrets\":[\"a\",\"a\"]}",
                "{\"preset\":\"stripe\",\"secrets\":[\"a\"],\"check\":\"bearer\"}",
                "{\"preset\":\"stripe\",\"secrets\":[\"a\"],\"tolerance\":\"2d\"}",
                "{\"preset\":\"generic\",\"secrets\":[\"a\"]}",
                "{\"preset\":\"generic\",\"secrets\":[\"a\"],\"signature\":{\"header\":\"X\",\"template\":\"{timestamp}\"},"
                    + "\"id\":{\"header\":\"Y\"}}",
                "{\"preset\":\"generic\",\"secrets\":[\"a\"],\"signature\":{\"header\":\"X\",\"timestamp_header\":\"T\"},"
                    + "\"id\":{\"header\":\"Y\"}}",
                "{\"preset\":\"generic\",\"secrets\":[\"a\"],\"signature\":{\"header\":\"X\"},\"id\":{\"pointer\":\"no\"}}")) {
            ProblemResponseChecks.expect(stage.admin().put("/v1/webhooks/wrong", document), 400, "invalid-input");
        }
    }

    @Test
    void a_kept_delivery_can_be_reprocessed_and_a_forged_one_cannot() {
        secret("again", WebhookProvider.STRIPE.secret);
        String path = hook("again", "{\"preset\":\"stripe\"", "again");
        String kept = deliver(path, WebhookProvider.STRIPE, "evt_1")
                .expect(200)
                .json()
                .get("delivery_id")
                .asString();
        stage.admin()
                .post("/v1/webhooks/again/deliveries/" + kept + "/reprocess", "")
                .expect(200);
        String repeated = deliver(path, WebhookProvider.STRIPE, "evt_1")
                .expect(200)
                .json()
                .get("delivery_id")
                .asString();
        for (String other : List.of(repeated, "dlv_nonsense", "run_" + kept.substring(4))) {
            ProblemResponseChecks.expect(
                    stage.admin().post("/v1/webhooks/again/deliveries/" + other + "/reprocess", ""), 404, "not-found");
        }
        ProblemResponseChecks.expect(
                stage.admin().post("/v1/webhooks/other/deliveries/" + kept + "/reprocess", ""), 404, "not-found");
    }

    @Test
    void a_signed_sample_of_every_preset_is_accepted_and_its_repeat_replayed() {
        for (WebhookProvider provider : WebhookProvider.values()) {
            if (provider == WebhookProvider.CLOUDEVENTS) {
                continue; // its bearer token is the secret itself, which is not given out
            }
            String name = "sample." + provider.word();
            secret(name, provider.secret);
            hook(name, provider.document, name);
            JsonNode sample = stage.admin()
                    .post("/v1/webhooks/" + name + "/sample", "")
                    .expect(200)
                    .json();
            List<String> lines = new ArrayList<>();
            sample.get("headers").forEachEntry((key, value) -> {
                if (!key.equals("Content-Type")) {
                    lines.add(key + ": " + value.asString());
                }
            });
            String path = sample.get("path").asString();
            post(path, sample.get("body").asString(), lines).expect(200);
            HttpReply again = post(path, sample.get("body").asString(), lines).expect(200);
            assertEquals("true", again.header("X-Idempotent-Replayed"), name);
        }
    }

    @Test
    void a_user_without_permission_sees_and_changes_no_webhooks() {
        ApiCaller nobody = new ApiCaller(stage.admin().port(), "", stage.admin().heard());
        ProblemResponseChecks.expect(nobody.get("/v1/webhooks"), 401, "unauthenticated");
        ProblemResponseChecks.expect(nobody.put("/v1/webhooks/x", "{}"), 401, "unauthenticated");
        ProblemResponseChecks.expect(nobody.get("/v1/webhooks/x/deliveries"), 401, "unauthenticated");
        ProblemResponseChecks.expect(nobody.post("/v1/webhooks/x/sample", ""), 401, "unauthenticated");
    }
}
