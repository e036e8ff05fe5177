package dev.semel.server.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.server.settings.WebhookSetting.ValueLocation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A verified webhook delivery: its deduplication id and the event that it carries.
 *
 * @param id identifies repeats of the delivery at its webhook
 */
record VerifiedWebhookEvent(String id, InboundEvent event) {
    private static final int LONGEST = 255;

    /** @param hook webhook name: the source of its events, and their type if they have none */
    static VerifiedWebhookEvent read(WebhookPreset plan, WebhookRequest letter, JsonNode data, String hook) {
        String id = firstValue(plan.ids(), letter, data);
        if (id == null) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The delivery has no event id in " + describe(plan.ids())
                            + ", so Semel could not recognise a repeat. No run was started.",
                    "Send the provider's event id there (1 to 255 characters), or set `id` in the webhook to its"
                            + " location.");
        }
        String type = firstValue(plan.types(), letter, data);
        return new VerifiedWebhookEvent(id, event(id, hook, type == null ? hook : type, data));
    }

    private static InboundEvent event(String id, String source, String type, JsonNode data) {
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.put("id", id).put("source", source).put("type", type).set("data", data);
        return of(whole);
    }

    private static InboundEvent of(JsonNode whole) {
        return new InboundEvent(
                whole.path("source").asString(""),
                whole.path("id").asString(""),
                whole.path("type").asString(""),
                null,
                null,
                whole.path("data"),
                whole);
    }

    /**
     * Creates it from a CloudEvent. The webhook name prefixes the event's source, so one webhook cannot pose as
     * another.
     */
    static VerifiedWebhookEvent ofCloudEvent(InboundEvent event, String hook) {
        String source = hook + ":" + event.source();
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        event.envelope().forEachEntry(whole::set);
        whole.put("source", source);
        var named =
                new InboundEvent(source, event.id(), event.type(), event.time(), event.subject(), event.data(), whole);
        return new VerifiedWebhookEvent(cloudId(event.source(), event.id()), named);
    }

    /** A JSON array, because a plain concatenation of two texts is ambiguous. */
    private static String cloudId(String source, String id) {
        return StrictJson.write(JsonNodeFactory.instance.arrayNode().add(source).add(id));
    }

    /** The delivery id of an event from this source; webhook names contain no colon. */
    static String deliveryIdOf(String source, String id) {
        int colon = source.indexOf(':');
        return colon < 0 ? id : cloudId(source.substring(colon + 1), id);
    }

    static String webhookNameOf(String source) {
        int colon = source.indexOf(':');
        return colon < 0 ? source : source.substring(0, colon);
    }

    /** Parses the stored payload of a delivery. */
    static InboundEvent parseStored(String payload) {
        return of(StrictJson.parse(payload));
    }

    private static String describe(List<ValueLocation> places) {
        List<String> words = places.stream()
                .map(place -> place.header() != null ? "header " + place.header() : String.valueOf(place.pointer()))
                .toList();
        return String.join(" or ", words);
    }

    private static @Nullable String firstValue(List<ValueLocation> places, WebhookRequest letter, JsonNode data) {
        for (ValueLocation place : places) {
            String text = place.pointer() == null ? letter.header(place.header()) : textAt(data, place.pointer());
            if (text != null && isValid(text)) {
                return text;
            }
        }
        return null;
    }

    /** The text or whole number at a pointer; null for anything else. */
    static @Nullable String textAt(JsonNode data, String pointer) {
        JsonNode value = data.at(JsonPointer.compile(pointer));
        return value.isString() ? value.stringValue() : value.isIntegralNumber() ? value.asString() : null;
    }

    private static boolean isValid(String text) {
        return !text.isEmpty() && text.length() <= LONGEST && text.chars().noneMatch(Character::isISOControl);
    }
}
