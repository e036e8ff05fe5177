package dev.semel.server.doors;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Something that happened elsewhere. Its source and id name it: the same two are the same event.
 *
 * @param data what workflows get as their input where they say nothing else
 * @param whole {id, source, type, time, subject, data, …extensions}: what {@code event} means in expressions
 */
public record Event(
        String source,
        String id,
        String type,
        @Nullable Instant time,
        @Nullable String subject,
        JsonNode data,
        JsonNode whole) {}
