package dev.semel.server.connectors.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.semel.server.connectors.webhooks.WebhookSignatureVerifier.Verdict;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The examples in the providers' own documentation are believed, and whatever is nearly one is not. */
final class SignatureTest {
    private static final Duration FIVE_MINUTES = Duration.ofSeconds(300);

    /** A delivery that is documented somewhere, with the secret that signed it. */
    private record Vector(
            String name,
            WebhookSignatureScheme scheme,
            @Nullable Duration tolerance,
            String secret,
            long seconds,
            Map<String, String> headers,
            String body,
            String signatureHeader) {
        Vector header(String name, @Nullable String value) {
            Map<String, String> changed = new HashMap<>(headers);
            if (value == null) {
                changed.remove(name);
            } else {
                changed.put(name, value);
            }
            return new Vector(this.name, scheme, tolerance, secret, seconds, changed, body, signatureHeader);
        }

        Vector body(String text) {
            return new Vector(name, scheme, tolerance, secret, seconds, headers, text, signatureHeader);
        }

        Vector secret(String text) {
            return new Vector(name, scheme, tolerance, text, seconds, headers, body, signatureHeader);
        }

        Vector at(long now) {
            return new Vector(name, scheme, tolerance, secret, now, headers, body, signatureHeader);
        }

        String signature() {
            return headers.getOrDefault(signatureHeader, "");
        }

        Verdict verdict(String... secrets) {
            InboundWebhookRequest webhookRequest = new InboundWebhookRequest(
                    header -> headers.containsKey(header) ? List.of(headers.get(header)) : List.of(),
                    body.getBytes(StandardCharsets.UTF_8));
            List<String> all = secrets.length == 0 ? List.of(secret) : List.of(secrets);
            return WebhookSignatureVerifier.verify(
                    scheme,
                    tolerance,
                    webhookRequest,
                    new WebhookSignatureVerifier.VerificationInputs(all, null, Instant.ofEpochSecond(seconds)));
        }
    }

    /** docs.github.com, "Validating webhook deliveries". */
    private static final Vector GITHUB = new Vector(
            "github",
            new WebhookSignatureScheme.HeaderSignature(
                    List.of("X-Hub-Signature-256"), HmacSignatureFormat.SHA256_HEX, "sha256=", "{body}", null, null),
            null,
            "It's a Secret to Everybody",
            0,
            Map.of("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"),
            "Hello, World!",
            "X-Hub-Signature-256");

    /** docs.slack.dev, "Verifying requests from Slack". */
    private static final Vector SLACK = new Vector(
            "slack",
            new WebhookSignatureScheme.HeaderSignature(
                    List.of("X-Slack-Signature"),
                    HmacSignatureFormat.SHA256_HEX,
                    "v0=",
                    "v0:{timestamp}:{body}",
                    "X-Slack-Request-Timestamp",
                    null),
            FIVE_MINUTES,
            "8f742231b10e8888abcd99yyyzzz85a5",
            1_531_420_618L,
            Map.of(
                    "X-Slack-Request-Timestamp",
                    "1531420618",
                    "X-Slack-Signature",
                    "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
            "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
                    + "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
                    + "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F"
                    + "96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
            "X-Slack-Signature");

    /** The worked example of the Standard Webhooks specification. */
    private static final Vector STANDARD = new Vector(
            "standard",
            new WebhookSignatureScheme.StandardWebhooks(),
            FIVE_MINUTES,
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            1_614_265_330L,
            Map.of(
                    "webhook-id",
                    "msg_p5jXN8AQM9LWM0D4loKWxJek",
                    "webhook-timestamp",
                    "1614265330",
                    "webhook-signature",
                    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            "{\"test\": 2432232314}",
            "webhook-signature");

    /** Made with another HMAC than ours: Stripe documents the form and shows no secret with its example. */
    private static final Vector STRIPE = new Vector(
            "stripe",
            new WebhookSignatureScheme.Stripe(),
            FIVE_MINUTES,
            "whsec_test_secret",
            1_492_774_577L,
            Map.of(
                    "Stripe-Signature",
                    "t=1492774577,v1=66d86a97ac5620300b0335877ac036f6d74f84ea2e1df371bd45689d0090f9b7,v0=old"),
            "{\"id\": \"evt_test_webhook\",\"object\": \"event\"}",
            "Stripe-Signature");

    /** Made with another HMAC than ours: Shopify documents the form and shows no example. */
    private static final Vector SHOPIFY = new Vector(
            "shopify",
            new WebhookSignatureScheme.HeaderSignature(
                    List.of("X-Shopify-Hmac-Sha256"), HmacSignatureFormat.SHA256_BASE64, "", "{body}", null, null),
            null,
            "hush",
            0,
            Map.of("X-Shopify-Hmac-Sha256", "VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY="),
            "{\"id\":1}",
            "X-Shopify-Hmac-Sha256");

    private static final List<Vector> ALL = List.of(GITHUB, SLACK, STANDARD, STRIPE, SHOPIFY);

    @TestFactory
    List<DynamicTest> the_published_example_of_the_provider_is_accepted() {
        return believed(List.of(GITHUB, SLACK, STANDARD));
    }

    @TestFactory
    List<DynamicTest> stripe_and_shopify_signatures_of_an_independent_hmac_are_accepted() {
        return believed(List.of(STRIPE, SHOPIFY));
    }

    private static List<DynamicTest> believed(List<Vector> vectors) {
        return vectors.stream()
                .map(vector -> DynamicTest.dynamicTest(
                        vector.name(), () -> assertInstanceOf(Verdict.Genuine.class, vector.verdict())))
                .toList();
    }

    @TestFactory
    List<DynamicTest> a_nearly_right_signature_is_rejected() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Vector vector : ALL) {
            String header = vector.signatureHeader();
            String good = vector.signature();
            Map<String, Vector> misses = new HashMap<>();
            misses.put("another secret", vector.secret(other(vector.secret())));
            misses.put("a space behind the body", vector.body(vector.body() + " "));
            misses.put("one byte of the body", vector.body(flipped(vector.body())));
            misses.put("an empty body", vector.body(""));
            misses.put("no signature", vector.header(header, null));
            misses.put("an empty signature", vector.header(header, ""));
            misses.put("the other case", vector.header(header, swapped(good)));
            misses.put("a space within", vector.header(header, good.substring(0, 30) + " " + good.substring(30)));
            misses.put(
                    "truncated",
                    vector.header(header, good.replace(",v0=old", "").replaceAll("..$", "")));
            misses.put(
                    "without what stands before it",
                    vector.header(
                            header,
                            good.replaceAll("(v1=|v1,|v0=|sha256=)", "")
                                    + (vector.name().equals("shopify") ? "=" : "")));
            misses.put("sha1=", vector.header(header, good.replaceAll("(v1=|v1,|v0=|sha256=|^V)", "sha1=")));
            misses.forEach((name, miss) -> tests.add(DynamicTest.dynamicTest(
                    vector.name() + ": " + name, () -> assertInstanceOf(Verdict.Forged.class, miss.verdict()))));
        }
        return tests;
    }

    private static String other(String secret) {
        return secret.substring(0, secret.length() - 1) + (secret.endsWith("w") ? "A" : "w");
    }

    private static String flipped(String body) {
        return body.substring(0, 3) + (char) (body.charAt(3) ^ 1) + body.substring(4);
    }

    private static String swapped(String text) {
        StringBuilder out = new StringBuilder();
        text.chars()
                .forEach(c -> out.append(
                        (char) (Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c))));
        return out.toString();
    }

    @Test
    void a_signed_time_out_of_range_is_stale_and_not_forged() {
        for (Vector vector : List.of(SLACK, STANDARD, STRIPE)) {
            long then = vector.seconds();
            assertInstanceOf(Verdict.Genuine.class, vector.at(then + 300).verdict(), vector.name());
            assertInstanceOf(Verdict.Genuine.class, vector.at(then - 300).verdict(), vector.name());
            assertInstanceOf(Verdict.Stale.class, vector.at(then + 301).verdict(), vector.name());
            assertInstanceOf(Verdict.Stale.class, vector.at(then - 301).verdict(), vector.name());
            assertInstanceOf(Verdict.Stale.class, vector.at(then - 86_400).verdict(), vector.name());
        }
    }

    @Test
    void an_invalid_time_is_stale_even_if_signed() {
        WebhookSignatureScheme slack = SLACK.scheme();
        for (String time :
                List.of("99999999999999999999", "-1", "soon", "1531420618.5", "+1531420618", "01531420618")) {
            byte[] body = SLACK.body().getBytes(StandardCharsets.UTF_8);
            String signature = "v0="
                    + HmacSignatureFormat.SHA256_HEX.compute(
                            HmacSignatureFormat.utf8(SLACK.secret()),
                            HmacSignatureFormat.utf8("v0:" + time + ":"),
                            body);
            Vector signed = SLACK.header("X-Slack-Request-Timestamp", time).header("X-Slack-Signature", signature);
            assertEquals(slack, signed.scheme());
            assertInstanceOf(Verdict.Stale.class, signed.verdict(), time);
            assertInstanceOf(
                    Verdict.Forged.class,
                    SLACK.header("X-Slack-Request-Timestamp", time).verdict(),
                    "the time is signed too");
        }
    }

    @Test
    void during_a_rotation_both_secrets_are_accepted() {
        for (Vector vector : ALL) {
            String old = vector.name().equals("standard") ? "whsec_" + "A".repeat(40) : "the one before";
            assertInstanceOf(Verdict.Genuine.class, vector.verdict(old, vector.secret()), vector.name());
            assertInstanceOf(Verdict.Genuine.class, vector.verdict(vector.secret(), old), vector.name());
            assertInstanceOf(Verdict.Forged.class, vector.verdict(old), vector.name());
        }
    }

    @Test
    void of_two_signatures_during_a_rotation_one_is_enough() {
        assertInstanceOf(
                Verdict.Genuine.class,
                STANDARD.header("webhook-signature", "v1,bm9ldHU= " + STANDARD.signature())
                        .verdict());
        assertInstanceOf(
                Verdict.Genuine.class,
                STRIPE.header("Stripe-Signature", STRIPE.signature() + ",v1=" + "0".repeat(64))
                        .verdict());
        assertInstanceOf(
                Verdict.Forged.class,
                STRIPE.header("Stripe-Signature", STRIPE.signature() + ",t=1492774578")
                        .verdict(),
                "two times: which one is signed?");
        assertInstanceOf(
                Verdict.Forged.class,
                STANDARD.header("webhook-signature", "v1,bm9ldHU= ".repeat(20) + STANDARD.signature())
                        .verdict(),
                "nobody rotates twenty secrets");
    }

    @Test
    void an_unusable_secret_is_not_the_senders_fault() {
        assertInstanceOf(Verdict.Unknown.class, STANDARD.verdict("too short"));
        assertInstanceOf(Verdict.Unknown.class, STANDARD.verdict("whpk_" + "AAAA"));
        assertInstanceOf(Verdict.Genuine.class, STANDARD.verdict("too short", STANDARD.secret()));
    }

    @Test
    void an_ed25519_signature_is_checked_with_the_public_half() throws GeneralSecurityException {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] encoded = pair.getPublic().getEncoded();
        String key = "whpk_" + Base64.getEncoder().encodeToString(Arrays.copyOfRange(encoded, 12, 44));
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(pair.getPrivate());
        signer.update(HmacSignatureFormat.utf8("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330." + STANDARD.body()));
        String signature = "v1a," + Base64.getEncoder().encodeToString(signer.sign());
        Vector signed = STANDARD.secret(key).header("webhook-signature", signature);
        assertInstanceOf(Verdict.Genuine.class, signed.verdict());
        assertInstanceOf(Verdict.Genuine.class, signed.verdict(STANDARD.secret(), key), "beside a shared one");
        assertInstanceOf(
                Verdict.Forged.class, signed.body(STANDARD.body() + " ").verdict());
        assertInstanceOf(
                Verdict.Forged.class,
                signed.header("webhook-signature", signature.replace("v1a,", "v1,"))
                        .verdict());
        assertInstanceOf(
                Verdict.Forged.class,
                signed.header("webhook-signature", signature.substring(0, 40)).verdict());
        assertInstanceOf(
                Verdict.Forged.class, signed.header("webhook-id", "msg_other").verdict(), "the id is signed");
    }

    @Test
    void each_scheme_accepts_its_own_signature() throws WebhookSignatureScheme.UnusableSecret {
        List<Vector> all = new ArrayList<>(ALL);
        all.add(new Vector(
                "bearer", new WebhookSignatureScheme.BearerToken(), null, "token", 7, Map.of(), "{}", "Authorization"));
        all.add(new Vector(
                "generic",
                new WebhookSignatureScheme.HeaderSignature(
                        List.of("X-Sig"),
                        new HmacSignatureFormat(HmacSignatureFormat.Algorithm.SHA512, HmacSignatureFormat.Encoding.HEX),
                        "a=",
                        "{id}:{timestamp}:{body}!",
                        "X-Time",
                        "X-Id"),
                FIVE_MINUTES,
                "secret",
                7,
                Map.of(),
                "{}",
                "X-Sig"));
        for (Vector vector : all) {
            Map<String, String> headers = vector.scheme()
                    .sign(
                            vector.secret(),
                            new WebhookSignatureScheme.SampleStamp("id-1", vector.seconds(), ""),
                            vector.body().getBytes(StandardCharsets.UTF_8));
            Vector signed = vector;
            for (Map.Entry<String, String> header : headers.entrySet()) {
                signed = signed.header(header.getKey(), header.getValue());
            }
            assertInstanceOf(Verdict.Genuine.class, signed.verdict(), vector.name());
            assertInstanceOf(
                    Verdict.Forged.class, signed.secret(other(vector.secret())).verdict(), vector.name());
        }
    }

    @Test
    void an_id_that_looks_like_a_placeholder_stays_an_id() {
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of("X-Sig"), HmacSignatureFormat.SHA256_HEX, "", "{id}.{timestamp}.{body}", "X-Time", "X-Id");
        InboundWebhookRequest webhookRequest = new InboundWebhookRequest(
                name -> switch (name) {
                    case "X-Sig" -> List.of("00");
                    case "X-Time" -> List.of("5");
                    case "X-Id" -> List.of("{timestamp}");
                    default -> List.of();
                },
                new byte[0]);
        WebhookSignatureScheme.PresentedSignatures presented = scheme.extract(webhookRequest);
        assertEquals("{timestamp}.5.", presented == null ? "" : new String(presented.prefix(), StandardCharsets.UTF_8));
    }

    @Test
    void the_header_names_of_svix_are_accepted() {
        Map<String, String> svix = new HashMap<>();
        STANDARD.headers().forEach((name, value) -> svix.put(name.replace("webhook-", "svix-"), value));
        Vector signed = new Vector(
                "svix",
                STANDARD.scheme(),
                FIVE_MINUTES,
                STANDARD.secret(),
                STANDARD.seconds(),
                svix,
                STANDARD.body(),
                "svix-signature");
        assertInstanceOf(Verdict.Genuine.class, signed.verdict());
        assertInstanceOf(
                Verdict.Forged.class, signed.header("svix-id", "msg_other").verdict(), "the id is signed");
        assertInstanceOf(
                Verdict.Forged.class,
                signed.header("webhook-id", "msg_other").verdict(),
                "the id that counts is the one that is checked");
    }

    /** The example of twilio.com/docs/usage/security, with the signature that Twilio's own libraries expect. */
    @Test
    void a_twilio_signature_covers_the_url_and_the_sorted_fields() {
        String url = "https://mycompany.com/myapp.php?foo=1&bar=2";
        String form = "To=%2B18005551212&CallSid=CA1234567890ABCDE&From=%2B14158675309&Digits=1234"
                + "&Caller=%2B14158675309";
        assertInstanceOf(Verdict.Genuine.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form, url));
        assertInstanceOf(Verdict.Genuine.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form, "http://other/", url));
        assertInstanceOf(
                Verdict.Forged.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form.replace("1234&", "1235&"), url));
        assertInstanceOf(Verdict.Forged.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form + "&More=1", url));
        assertInstanceOf(Verdict.Forged.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form, url + "0"));
        assertInstanceOf(Verdict.Forged.class, twilio("rsOYDt4T1cUTdK1PDd93/VVr8B8=", form, url));
        assertInstanceOf(Verdict.Forged.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", "%zz", url));
        assertInstanceOf(Verdict.Forged.class, twilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", form));
    }

    @Test
    void a_twilio_signature_covers_a_json_body_by_its_hash() {
        String body = "{\"CallSid\":\"CA1\"}";
        String url = "https://example.com/hook?bodySHA256="
                + "47c3d10d90bd8ca9ba3ab5b9abe2c6af7c2b4b2c48a9f4ab0b9e3b1b3a9d0a50";
        assertInstanceOf(Verdict.Forged.class, twilio(sha1(url), body, url), "the hash is of another body");
        String right = "https://example.com/hook?bodySHA256=" + sha256(body);
        assertInstanceOf(Verdict.Genuine.class, twilio(sha1(right), body, right));
        assertInstanceOf(Verdict.Forged.class, twilio(sha1(right), body + " ", right));
    }

    private static String sha1(String url) {
        return new HmacSignatureFormat(HmacSignatureFormat.Algorithm.SHA1, HmacSignatureFormat.Encoding.BASE64)
                .compute(HmacSignatureFormat.utf8("12345"), HmacSignatureFormat.utf8(url));
    }

    private static String sha256(String body) {
        return new InboundWebhookRequest(_ -> List.of(), body.getBytes(StandardCharsets.UTF_8))
                .bodyHash()
                .substring("sha256:".length());
    }

    private static Verdict twilio(String signature, String body, String... urls) {
        InboundWebhookRequest request = new InboundWebhookRequest(
                header -> header.equals("X-Twilio-Signature") ? List.of(signature) : List.of(),
                body.getBytes(StandardCharsets.UTF_8),
                Map.of(),
                List.of(urls));
        return WebhookSignatureVerifier.verify(
                new TwilioSignature(),
                null,
                request,
                new WebhookSignatureVerifier.VerificationInputs(List.of("12345"), null, Instant.EPOCH));
    }
}
