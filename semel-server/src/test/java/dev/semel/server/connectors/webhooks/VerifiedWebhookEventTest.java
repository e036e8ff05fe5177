package dev.semel.server.connectors.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.ingress.InboundEvent;
import org.junit.jupiter.api.Test;

final class VerifiedWebhookEventTest {
    @Test
    void no_webhook_delivers_events_of_the_servers_own_sources() {
        InboundEvent event =
                InboundEvent.of(StrictJsonCodec.parse("{\"id\":\"1\",\"source\":\"reviews\",\"type\":\"t\"}"));
        assertEquals(
                "shop:reviews",
                VerifiedWebhookEvent.ofCloudEvent(event, "shop").event().source());
        assertThrows(SemelException.class, () -> VerifiedWebhookEvent.ofCloudEvent(event, "semel"));
    }
}
