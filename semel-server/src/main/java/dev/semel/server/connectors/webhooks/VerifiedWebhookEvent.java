package dev.semel.server.connectors.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.settings.InboundWebhookSetting.ValueLocation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** @param id identifies repeats of the delivery at its webhook */
record VerifiedWebhookEvent(String id, InboundEvent event) {
    private static final int LONGEST = 255;

    /** @param webhookName webhook name: the source of its events, and their type if they have none */
    static VerifiedWebhookEvent read(
            WebhookPreset plan, InboundWebhookRequest webhookRequest, JsonNode data, String webhookName) {
        String id = firstValue(plan.ids(), webhookRequest, data);
        if (id == null) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The delivery has no event id in " + describe(plan.ids())
                            + ", so Semel could not recognise a repeat. No run was started.",
                    "Send the provider's event id (1 to 255 characters) in that place. Or set `id` in the webhook to"
                            + " the place where the provider sends it.");
        }
        String type = firstValue(plan.types(), webhookRequest, data);
        return new VerifiedWebhookEvent(id, event(id, webhookName, type == null ? webhookName : type, data));
    }

    private static InboundEvent event(String id, String source, String type, JsonNode data) {
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.put("id", id).put("source", source).put("type", type).set("data", data);
        return InboundEvent.of(whole);
    }

    /** The webhook name prefixes the event's source, so one webhook cannot pose as another. */
    static VerifiedWebhookEvent ofCloudEvent(InboundEvent event, String webhook) {
        String source = webhook + ":" + event.source();
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        event.envelope().forEachEntry(whole::set);
        whole.put("source", source);
        return new VerifiedWebhookEvent(
                cloudId(event.source(), event.id()), InboundEvent.of(whole).fromOutside());
    }

    /** A JSON array, because a plain concatenation of two texts is ambiguous. */
    private static String cloudId(String source, String id) {
        return StrictJsonCodec.write(
                JsonNodeFactory.instance.arrayNode().add(source).add(id));
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

    static InboundEvent parseStored(String payload) {
        return InboundEvent.of(StrictJsonCodec.parse(payload));
    }

    private static String describe(List<ValueLocation> valueLocations) {
        List<String> words = valueLocations.stream()
                .map(valueLocation -> valueLocation.header() != null
                        ? "header " + valueLocation.header()
                        : String.valueOf(valueLocation.pointer()))
                .toList();
        return String.join(" or ", words);
    }

    private static @Nullable String firstValue(
            List<ValueLocation> valueLocations, InboundWebhookRequest webhookRequest, JsonNode data) {
        for (ValueLocation valueLocation : valueLocations) {
            if (valueLocation.equals(WebhookPreset.BODY)) {
                return webhookRequest.bodyHash();
            }
            String text = valueLocation.pointer() == null
                    ? webhookRequest.header(valueLocation.header())
                    : textAt(data, valueLocation.pointer());
            if (text != null && isValid(text)) {
                return text;
            }
            String header = valueLocation.header();
            if (header != null && webhookRequest.has(header)) {
                return null; // the signature may cover this header, and not the next one
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
