package dev.semel.server.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.ingress.BinaryEventReader;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.server.ingress.JsonEventReader;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A webhook delivery with one or more CloudEvents 1.0. The signed body decides the mode; `ce-` headers count only if
 * the body is no event, so headers cannot change a captured event.
 *
 * @param signed whether the body holds the attributes that identify the events
 * @param events parsed one by one; each may throw
 */
record CloudEventsDelivery(boolean batch, boolean signed, List<Supplier<VerifiedWebhookEvent>> events) {
    private static final int MOST = 1_000;

    static CloudEventsDelivery of(WebhookRequest letter, String hook) {
        JsonNode json = json(letter);
        if (json != null && json.isArray() && looksLikeEvents(json)) {
            if (json.size() > MOST) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The batch has more than " + MOST + " events. Nothing was stored and no run was started.",
                        "Send smaller batches.");
            }
            return new CloudEventsDelivery(
                    true,
                    true,
                    json.valueStream().map(one -> structured(one, hook)).toList());
        }
        boolean event = json != null && json.isObject() && json.has("specversion");
        if (event || letter.cloudEventHeaders().isEmpty()) {
            JsonNode read = json == null ? StrictJson.parse(letter.body()) : json; // throws with the syntax error
            return new CloudEventsDelivery(false, true, List.of(structured(read, hook)));
        }
        InboundEvent read =
                BinaryEventReader.read(letter.cloudEventHeaders(), letter.header("Content-Type"), letter.body());
        return new CloudEventsDelivery(false, false, List.of(() -> VerifiedWebhookEvent.ofCloudEvent(read, hook)));
    }

    private static Supplier<VerifiedWebhookEvent> structured(JsonNode json, String hook) {
        return () -> VerifiedWebhookEvent.ofCloudEvent(JsonEventReader.read(json, true), hook);
    }

    private static boolean looksLikeEvents(JsonNode array) {
        return array.valueStream().anyMatch(one -> one.isObject() && one.has("specversion"));
    }

    private static @Nullable JsonNode json(WebhookRequest letter) {
        try {
            return letter.body().length == 0 ? null : StrictJson.parse(letter.body());
        } catch (SemelException e) {
            return null;
        }
    }
}
