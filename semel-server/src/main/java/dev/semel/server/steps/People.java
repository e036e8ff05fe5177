package dev.semel.server.steps;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Those who get messages. A profile is {@code {id, email, phone, chat, attributes, subscribed, unsubscribed_from,
 * cohorts}}. Every change says what shall be, so that doing it twice is doing it once.
 */
public interface People {
    /** By id or e-mail address; null where there is none. */
    @Nullable
    JsonNode find(String idOrEmail);

    JsonNode findOrCreate(String idOrEmail, JsonNode fields);

    /** Sets some members, leaves the others. Null where there is none. */
    @Nullable
    JsonNode update(String id, JsonNode fields);

    /** @param topic a kind of channel, a channel, or an event */
    JsonNode subscribe(String id, String topic, boolean subscribed);

    /** @param member null: only looks */
    JsonNode cohort(String id, String cohort, @Nullable Boolean member);
}
