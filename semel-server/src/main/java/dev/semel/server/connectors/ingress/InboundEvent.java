package dev.semel.server.connectors.ingress;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.DatabaseRows;
import tools.jackson.databind.JsonNode;

/**
 * An inbound event. Source and id identify it: the same two are the same event.
 *
 * @param envelope all attributes, and {@code data} if the event has any: the value of {@code event} in expressions
 */
public record InboundEvent(String source, String id, String type, JsonNode envelope) {
    private static final String OWN = "semel:";

    /** @param envelope has the texts {@code source}, {@code id} and {@code type} */
    public static InboundEvent of(JsonNode envelope) {
        return new InboundEvent(
                envelope.path("source").asString(""),
                envelope.path("id").asString(""),
                envelope.path("type").asString(""),
                envelope);
    }

    /** Does not validate again, because webhook events may have values that callers may not send. */
    public static InboundEvent ofStored(DatabaseRows.EventRow stored) {
        return of(StrictJsonCodec.parse(stored.body()));
    }

    /** The same event; throws if its source is one of the server's own, so that nobody forges the server's events. */
    public InboundEvent fromOutside() {
        if (source.regionMatches(true, 0, OWN, 0, OWN.length())) {
            throw InboundEventErrorFactory.of(
                    "source", "sources that begin with " + OWN + " are reserved for events of the server");
        }
        return this;
    }

    /** The payload; a missing node if the event has none. */
    public JsonNode data() {
        return envelope.path("data");
    }
}
