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
 * A delivery of CloudEvents 1.0. Which mode it is says the body, which is what a signature covers; headers count only where
 * the body is no event itself. So nobody makes another event of a captured one by writing headers before it.
 *
 * @param signed whether what names the events is in the body
 * @param events read one by one, each of which may be refused
 */
record CloudDelivery(boolean batch, boolean signed, List<Supplier<Told>> events) {
    private static final int MOST = 1_000;

    static CloudDelivery of(Letter letter, String hook) {
        JsonNode json = json(letter);
        if (json != null && json.isArray() && looksLikeEvents(json)) {
            if (json.size() > MOST) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "A batch has " + MOST + " events at most. Nothing was kept and no run was started.",
                        "Send fewer events at a time.");
            }
            return new CloudDelivery(
                    true,
                    true,
                    json.valueStream().map(one -> structured(one, hook)).toList());
        }
        boolean event = json != null && json.isObject() && json.has("specversion");
        if (event || letter.cloud().isEmpty()) {
            JsonNode read = json == null ? Json.parse(letter.body()) : json; // which says what is wrong with it
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
