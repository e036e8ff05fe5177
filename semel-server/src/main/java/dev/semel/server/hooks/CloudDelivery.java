package dev.semel.server.hooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.BinaryEvent;
import dev.semel.server.doors.Event;
import dev.semel.server.doors.EventReader;
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
record CloudDelivery(boolean batch, boolean signed, List<Supplier<Told>> events) {
    private static final int MOST = 1_000;

    static CloudDelivery of(Letter letter, String hook) {
        JsonNode json = json(letter);
        if (json != null && json.isArray() && looksLikeEvents(json)) {
            if (json.size() > MOST) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The batch has more than " + MOST + " events. Nothing was stored and no run was started.",
                        "Send smaller batches.");
            }
            return new CloudDelivery(
                    true,
                    true,
                    json.valueStream().map(one -> structured(one, hook)).toList());
        }
        boolean event = json != null && json.isObject() && json.has("specversion");
        if (event || letter.cloud().isEmpty()) {
            JsonNode read = json == null ? Json.parse(letter.body()) : json; // throws with the syntax error
            return new CloudDelivery(false, true, List.of(structured(read, hook)));
        }
        Event read = BinaryEvent.read(letter.cloud(), letter.header("Content-Type"), letter.body());
        return new CloudDelivery(false, false, List.of(() -> Told.cloud(read, hook)));
    }

    private static Supplier<Told> structured(JsonNode json, String hook) {
        return () -> Told.cloud(EventReader.read(json, true), hook);
    }

    private static boolean looksLikeEvents(JsonNode array) {
        return array.valueStream().anyMatch(one -> one.isObject() && one.has("specversion"));
    }

    private static @Nullable JsonNode json(Letter letter) {
        try {
            return letter.body().length == 0 ? null : Json.parse(letter.body());
        } catch (SemelException e) {
            return null;
        }
    }
}
