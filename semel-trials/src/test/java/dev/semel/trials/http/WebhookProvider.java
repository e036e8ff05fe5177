package dev.semel.trials.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** How each provider signs, written down a second time from their documentation. */
enum WebhookProvider {
    STRIPE("{\"preset\":\"stripe\"", "signing secret", "payment_intent.succeeded", true) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            String signed = sent.seconds() + "." + sent.body();
            return List.of("Stripe-Signature: t=" + sent.seconds() + ",v1=" + hex("HmacSHA256", secret, signed));
        }

        @Override
        String body(String id) {
            return "{\"id\":\"" + id + "\",\"type\":\"payment_intent.succeeded\",\"data\":{\"amount\":1}}";
        }
    },
    GITHUB("{\"preset\":\"github\"", "It's a Secret to Everybody", "push", false) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            return List.of(
                    "X-GitHub-Delivery: " + sent.id(),
                    "X-GitHub-Event: push",
                    "X-Hub-Signature-256: sha256=" + hex("HmacSHA256", secret, sent.body()));
        }
    },
    SHOPIFY("{\"preset\":\"shopify\"", "app secret", "orders/create", false) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            return List.of(
                    "X-Shopify-Webhook-Id: " + sent.id(),
                    "X-Shopify-Topic: orders/create",
                    "X-Shopify-Hmac-Sha256: " + base64(secret.getBytes(StandardCharsets.UTF_8), sent.body()));
        }
    },
    SLACK("{\"preset\":\"slack\"", "slack signing", "message", true) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            return List.of(
                    "X-Slack-Request-Timestamp: " + sent.seconds(),
                    "X-Slack-Signature: v0=" + hex("HmacSHA256", secret, "v0:" + sent.seconds() + ":" + sent.body()));
        }

        @Override
        String body(String id) {
            return "{\"event_id\":\"" + id + "\",\"type\":\"event_callback\",\"event\":{\"type\":\"message\"}}";
        }
    },
    STANDARD("{\"preset\":\"standard\"", "whsec_" + "a2tr".repeat(8), "sample", true) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
            return List.of(
                    "webhook-id: " + sent.id(),
                    "webhook-timestamp: " + sent.seconds(),
                    "webhook-signature: v1," + base64(key, sent.id() + "." + sent.seconds() + "." + sent.body()));
        }
    },
    CLOUDEVENTS("{\"preset\":\"cloudevents\",\"check\":\"bearer\"", "a long bearer token", "sample", false) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            return List.of("Authorization: Bearer " + secret);
        }

        @Override
        String body(String id) {
            return "{\"specversion\":\"1.0\",\"id\":\"" + id
                    + "\",\"source\":\"/shop\",\"type\":\"sample\",\"data\":{}}";
        }
    },
    GENERIC(
            "{\"preset\":\"generic\",\"signature\":{\"header\":\"X-Sig\",\"algorithm\":\"sha512\",\"prefix\":\"s=\","
                    + "\"template\":\"{timestamp}.{body}\",\"timestamp_header\":\"X-Time\"},"
                    + "\"id\":{\"pointer\":\"/message/id\"},\"type\":{\"pointer\":\"/kind\"}",
            "generic secret",
            "sample",
            true) {
        @Override
        List<String> sign(String secret, SignedRequest sent) {
            return List.of(
                    "X-Time: " + sent.seconds(),
                    "X-Sig: s=" + hex("HmacSHA512", secret, sent.seconds() + "." + sent.body()));
        }

        @Override
        String body(String id) {
            return "{\"message\":{\"id\":\"" + id + "\"},\"kind\":\"sample\"}";
        }
    };

    final String document;
    final String secret;
    final String type;
    final boolean timed;

    WebhookProvider(String document, String secret, String type, boolean timed) {
        this.document = document;
        this.secret = secret;
        this.type = type;
        this.timed = timed;
    }

    abstract List<String> sign(String secret, SignedRequest sent);

    String body(String id) {
        return "{\"type\":\"sample\",\"note\":\"" + id + "\"}";
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    record SignedRequest(String id, long seconds, String body) {}

    static byte[] hmac(String name, byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance(name);
            mac.init(new SecretKeySpec(key, name));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static String hex(String name, String key, String text) {
        return HexFormat.of().formatHex(hmac(name, key.getBytes(StandardCharsets.UTF_8), text));
    }

    static String base64(byte[] key, String text) {
        return Base64.getEncoder().encodeToString(hmac("HmacSHA256", key, text));
    }
}
