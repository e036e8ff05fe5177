package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.SampleWorkflows;
import dev.semel.trials.support.ServerFixture;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Presets whose providers do more than sign a body: other header names, URLs, a verification, forms. */
class WebhookPresetsTest extends OnBothStores {
    private static final String JSON = "Content-Type: application/json";
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    WebhookPresetsTest(ServerFixture stage) {
        super(stage);
    }

    private static byte[] hmac(String algorithm, byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            mac.init(new SecretKeySpec(key, algorithm));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private String webhook(String name, String document, String secret) {
        stage.admin()
                .put("/v1/secrets/" + name, "{\"value\":\"" + secret + "\"}")
                .expect(200);
        return stage.admin().put("/v1/webhooks/" + name, document).expect(200).text("path");
    }

    private ApiCaller provider() {
        return new ApiCaller(stage.admin().port(), "", stage.admin().heard());
    }

    private void subscribe(String workflow, String source) {
        stage.admin()
                .publish(SampleWorkflows.flow(
                        workflow, "trigger: { events: [{ type: \"*\", source: \"" + source + "\" }] }"))
                .expect(200);
    }

    private String typeOfNewest(String source) {
        JsonNode items = stage.admin()
                .get("/v1/events?source=" + source)
                .expect(200)
                .json()
                .get("items");
        return items.get(0).at("/event/type").asString(items.get(0).path("type").asString(""));
    }

    @Test
    void the_header_names_of_svix_start_a_run_once() {
        String path = webhook("svix", "{\"preset\":\"standard\",\"secrets\":[\"svix\"]}", "whsec_" + "A".repeat(40));
        subscribe("by_svix", "svix");
        String body = "{\"type\":\"user.created\"}";
        long now = Instant.now().getEpochSecond();
        String signed = Base64.getEncoder()
                .encodeToString(
                        hmac("HmacSHA256", Base64.getDecoder().decode("A".repeat(40)), "msg_1." + now + "." + body));
        String[] headers = {JSON, "svix-id: msg_1", "svix-timestamp: " + now, "svix-signature: v1," + signed};
        HttpReply first = provider().send("POST", path, body, headers).expect(200);
        assertEquals(1, first.json().get("run_ids").size(), first.body());
        HttpReply again = provider().send("POST", path, body, headers).expect(200);
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        ProblemResponseChecks.expect(
                provider().send("POST", path, body, headers[0], "svix-id: msg_2", headers[2], headers[3]),
                401,
                "webhook-signature-invalid");
    }

    @Test
    void meta_verifies_the_url_and_a_repeated_body_is_a_duplicate() {
        stage.admin().put("/v1/secrets/meta_token", "{\"value\":\"hub token\"}").expect(200);
        String path = webhook(
                "meta", "{\"preset\":\"meta\",\"secrets\":[\"meta\"],\"verify_token\":\"meta_token\"}", "app secret");
        subscribe("by_meta", "meta");
        String query = "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=";
        HttpReply verified = provider().get(path + query + "hub+token").expect(200);
        assertEquals("1158201444", verified.body());
        assertTrue(String.valueOf(verified.header("Content-Type")).startsWith("text/plain"));
        ProblemResponseChecks.expect(provider().get(path + query + "wrong"), 401, "webhook-signature-invalid");
        ProblemResponseChecks.expect(
                provider().get(path.replace("-meta", "-other") + query + "hub+token"), 404, "not-found");
        ProblemResponseChecks.expect(provider().get(path), 400, "invalid-input");
        String body = "{\"object\":\"page\",\"entry\":[{\"id\":\"1\"}]}";
        String signature =
                "X-Hub-Signature-256: sha256=" + HexFormat.of().formatHex(hmac("HmacSHA256", utf8("app secret"), body));
        HttpReply first = provider().send("POST", path, body, JSON, signature).expect(200);
        assertEquals(1, first.json().get("run_ids").size(), first.body());
        assertEquals(
                "true",
                provider().send("POST", path, body, JSON, signature).expect(200).header("X-Idempotent-Replayed"));
        assertEquals("page", typeOfNewest("meta"));
        ProblemResponseChecks.expect(
                provider().send("POST", path, body + " ", JSON, signature), 401, "webhook-signature-invalid");
    }

    @Test
    void only_meta_webhooks_have_a_verification_and_need_its_token() {
        String path = webhook("plain", "{\"preset\":\"github\",\"secrets\":[\"plain\"]}", "secret");
        ProblemResponseChecks.expect(
                provider().get(path + "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=secret"), 404, "not-found");
        for (String document : List.of(
                "{\"preset\":\"meta\",\"secrets\":[\"a\"]}",
                "{\"preset\":\"meta\",\"secrets\":[\"a\"],\"verify_token\":\"in clear!\"}",
                "{\"preset\":\"github\",\"secrets\":[\"a\"],\"verify_token\":\"a\"}")) {
            ProblemResponseChecks.expect(stage.admin().put("/v1/webhooks/wrong", document), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(
                stage.admin().put("/v1/webhooks/src_mine", "{\"preset\":\"github\",\"secrets\":[\"a\"]}"),
                400,
                "invalid-input");
    }

    @Test
    void a_twilio_message_is_verified_with_the_url_and_starts_a_run_once() {
        String path = webhook(
                "sms",
                "{\"preset\":\"twilio\",\"secrets\":[\"sms\"],\"reply\":{\"from\":\"/From\",\"text\":\"/Body\"}}",
                "auth");
        subscribe("by_sms", "sms");
        String body = "To=%2B15550100&From=%2B4930&Body=yes+please&MessageSid=SM1&SmsStatus=received";
        String fields = "Bodyyes pleaseFrom+4930MessageSidSM1SmsStatusreceivedTo+15550100";
        for (String base : List.of("http://localhost", "https://localhost:443")) {
            String signature = "X-Twilio-Signature: "
                    + Base64.getEncoder().encodeToString(hmac("HmacSHA1", utf8("auth"), base + path + fields));
            String token = "I-Twilio-Idempotency-Token: token-" + base.length();
            HttpReply first =
                    provider().send("POST", path, body, FORM, signature, token).expect(200);
            assertEquals(1, first.json().get("run_ids").size(), first.body());
            assertEquals(
                    "true",
                    provider()
                            .send("POST", path, body, FORM, signature, token)
                            .expect(200)
                            .header("X-Idempotent-Replayed"));
            ProblemResponseChecks.expect(
                    provider().send("POST", path, body.replace("yes", "no"), FORM, signature, token),
                    401,
                    "webhook-signature-invalid");
            ProblemResponseChecks.expect(
                    provider().send("POST", path + "?more=1", body, FORM, signature, token),
                    401,
                    "webhook-signature-invalid");
        }
        assertEquals("received", typeOfNewest("sms"));
        JsonNode sample =
                stage.admin().post("/v1/webhooks/sms/sample", "").expect(200).json();
        provider()
                .send(
                        "POST",
                        path,
                        sample.get("body").asString(),
                        FORM,
                        "X-Twilio-Signature: "
                                + sample.at("/headers/X-Twilio-Signature").asString())
                .expect(200);
    }

    @Test
    void shopify_deliveries_without_a_webhook_id_are_recognized_by_their_event_id() {
        String path = webhook("shop", "{\"preset\":\"shopify\",\"secrets\":[\"shop\"]}", "hush");
        String body = "{\"id\":1}";
        String signature =
                "X-Shopify-Hmac-Sha256: " + Base64.getEncoder().encodeToString(hmac("HmacSHA256", utf8("hush"), body));
        String topic = "X-Shopify-Topic: orders/create";
        HttpReply first = provider()
                .send("POST", path, body, JSON, signature, topic, "X-Shopify-Event-Id: e1")
                .expect(200);
        assertEquals("e1", first.text("event_id"));
        assertNull(first.header("X-Idempotent-Replayed"));
        assertEquals(
                "true",
                provider()
                        .send("POST", path, body, JSON, signature, topic, "X-Shopify-Event-Id: e1")
                        .expect(200)
                        .header("X-Idempotent-Replayed"));
    }

    @Test
    void an_unknown_placeholder_is_rejected_when_the_webhook_is_saved() {
        for (String template : List.of("{timestamp}.{url}.{body}", "{Body}{body}", "{timestamp}.{ body }.{body}")) {
            String document = "{\"preset\":\"generic\",\"secrets\":[\"a\"],\"id\":{\"pointer\":\"/id\"},\"signature\":"
                    + "{\"header\":\"X\",\"template\":\"" + template + "\""
                    + (template.contains("{timestamp}") ? ",\"timestamp_header\":\"T\"" : "") + "}}";
            HttpReply reply = stage.admin().put("/v1/webhooks/odd", document);
            ProblemResponseChecks.expect(reply, 400, "invalid-input");
            assertTrue(reply.body().contains("unknown placeholder"), reply.body());
        }
        String fine = "{\"preset\":\"generic\",\"secrets\":[\"a\"],\"id\":{\"header\":\"I\"},\"signature\":"
                + "{\"header\":\"X\",\"template\":\"{id}.{body}{\"}}";
        stage.admin().put("/v1/webhooks/fine", fine).expect(200);
    }
}
