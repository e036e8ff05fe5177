package dev.semel.server.ingress;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An inbound event. Source and id identify it: the same two are the same event.
 *
 * @param data the default input of subscribed workflows
 * @param envelope {id, source, type, time, subject, data, …extensions}: the value of {@code event} in expressions
 */
public record InboundEvent(
        String source,
        String id,
        String type,
        @Nullable Instant time,
        @Nullable String subject,
        JsonNode data,
        JsonNode envelope) {}
