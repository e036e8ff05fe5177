package dev.semel.server.connectors.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.settings.InboundWebhookSetting;
import dev.semel.server.settings.InboundWebhookSetting.ValueLocation;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A correctly signed test delivery for a webhook, in the provider's format. */
public record SampleWebhookDelivery(Map<String, String> headers, String body) {

    /**
     * @param id event id of the sample; another id is another delivery
     * @param url to which the sample will be sent; empty if it is unknown
     */
    public static SampleWebhookDelivery of(
            InboundWebhookSetting webhook, String secret, String id, long seconds, String url) {
        if (webhook.check() == InboundWebhookSetting.VerificationMethod.BEARER) {
            throw cannotSign("its bearer token is the secret itself, and Semel does not show secrets");
        }
        WebhookPreset plan = WebhookPreset.of(webhook);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", "application/json");
        ObjectNode document = document(webhook, id, headers);
        plan.ids().stream()
                .limit(1)
                .filter(place -> !place.equals(WebhookPreset.BODY))
                .forEach(valueLocation -> setValue(valueLocation, id, document, headers));
        plan.types().stream()
                .limit(1)
                .forEach(valueLocation -> setValue(valueLocation, type(webhook.preset()), document, headers));
        String body = document.toString();
        if (webhook.preset().equals("twilio")) {
            headers.put("Content-Type", "application/x-www-form-urlencoded");
            body = "MessageSid=" + id + "&SmsStatus=received&From=%2B4930123&To=%2B4930456&Body=hello+there";
        }
        try {
            headers.putAll(plan.scheme()
                    .sign(
                            secret,
                            new WebhookSignatureScheme.SampleStamp(id, seconds, url),
                            body.getBytes(StandardCharsets.UTF_8)));
        } catch (WebhookSignatureScheme.UnusableSecret e) {
            throw cannotSign(e.getMessage() == null ? "the secret has the wrong format" : e.getMessage());
        }
        return new SampleWebhookDelivery(headers, body);
    }

    private static SemelException cannotSign(String why) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "Semel cannot sign a sample for this webhook: " + why + ". Nothing was sent.",
                "Use a signing secret, or send a test from the provider.");
    }

    private static String type(String preset) {
        return switch (preset) {
            case "stripe" -> "payment_intent.succeeded";
            case "github" -> "push";
            case "shopify" -> "orders/create";
            case "slack" -> "message";
            case "meta" -> "page";
            default -> "sample";
        };
    }

    private static ObjectNode document(InboundWebhookSetting webhook, String id, Map<String, String> headers) {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        switch (webhook.preset()) {
            case "stripe" ->
                out.put("object", "event")
                        .putObject("data")
                        .putObject("object")
                        .put("id", "pi_sample")
                        .put("object", "payment_intent")
                        .put("amount", 4900)
                        .put("currency", "usd");
            case "github" -> out.put("ref", "refs/heads/main").put("after", id);
            case "shopify" -> out.put("id", 1001).put("name", "#1001").put("note", id);
            case "meta" -> {
                ObjectNode entry = out.putArray("entry").addObject().put("id", id);
                entry.putArray("changes").addObject().put("field", "feed");
            }
            case "slack" -> {
                out.put("type", "event_callback");
                out.putObject("event").put("text", "hello").put("user", "U1");
            }
            case "cloudevents" -> {
                headers.put("Content-Type", "application/cloudevents+json");
                out.put("specversion", "1.0")
                        .put("id", id)
                        .put("source", "/sample")
                        .put("type", "sample");
                out.putObject("data").put("sample", true);
            }
            default -> out.put("sample", true);
        }
        return out;
    }

    private static void setValue(
            ValueLocation valueLocation, String text, ObjectNode document, Map<String, String> headers) {
        if (valueLocation.header() != null) {
            headers.put(valueLocation.header(), text);
            return;
        }
        JsonPointer pointer = JsonPointer.compile(valueLocation.pointer());
        ObjectNode at = document;
        while (!pointer.tail().matches()) {
            String member = pointer.getMatchingProperty();
            at = at.get(member) instanceof ObjectNode inside ? inside : at.putObject(member);
            pointer = pointer.tail();
        }
        at.put(pointer.getMatchingProperty(), text);
    }
}
