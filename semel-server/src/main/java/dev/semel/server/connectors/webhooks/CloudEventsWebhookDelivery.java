package dev.semel.server.connectors.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.ingress.BinaryCloudEventReader;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.JsonInboundEventReader;
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
record CloudEventsWebhookDelivery(boolean batch, boolean signed, List<Supplier<VerifiedWebhookEvent>> events) {
    private static final int MOST = 1_000;

    static CloudEventsWebhookDelivery of(InboundWebhookRequest webhookRequest, String webhook) {
        JsonNode json = json(webhookRequest);
        if (json != null && json.isArray() && looksLikeEvents(json)) {
            if (json.size() > MOST) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The batch has more than " + MOST + " events. Nothing was stored and no run was started.",
                        "Send smaller batches.");
            }
            return new CloudEventsWebhookDelivery(
                    true,
                    true,
                    json.valueStream().map(one -> structured(one, webhook)).toList());
        }
        boolean event = json != null && json.isObject() && json.has("specversion");
        if (event || webhookRequest.cloudEventHeaders().isEmpty()) {
            JsonNode read =
                    json == null ? StrictJsonCodec.parse(webhookRequest.body()) : json; // throws with the syntax error
            return new CloudEventsWebhookDelivery(false, true, List.of(structured(read, webhook)));
        }
        InboundEvent read = BinaryCloudEventReader.read(
                webhookRequest.cloudEventHeaders(), webhookRequest.header("Content-Type"), webhookRequest.body());
        return new CloudEventsWebhookDelivery(
                false, false, List.of(() -> VerifiedWebhookEvent.ofCloudEvent(read, webhook)));
    }

    private static Supplier<VerifiedWebhookEvent> structured(JsonNode json, String webhook) {
        return () -> VerifiedWebhookEvent.ofCloudEvent(JsonInboundEventReader.read(json, true), webhook);
    }

    private static boolean looksLikeEvents(JsonNode array) {
        return array.valueStream().anyMatch(one -> one.isObject() && one.has("specversion"));
    }

    private static @Nullable JsonNode json(InboundWebhookRequest webhookRequest) {
        try {
            return webhookRequest.body().length == 0 ? null : StrictJsonCodec.parse(webhookRequest.body());
        } catch (SemelException e) {
            return null;
        }
    }
}
