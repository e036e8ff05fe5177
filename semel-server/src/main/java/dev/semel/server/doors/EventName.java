package dev.semel.server.doors;

import dev.semel.json.Json;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The identity of an event for deduplication: trigger source, event source and event id. Its hash covers a JSON array,
 * because plain concatenation is ambiguous.
 */
record EventName(Door door, String source, String id) {
    static final Duration WINDOW = Duration.ofDays(7);

    private static final int BYTES = 24;
    private static final int LONGEST_SHOWN = 255;

    static EventName of(Door door, Event event) {
        return new EventName(door, event.source(), event.id());
    }

    /** {@code evt_…}, the same in every workspace and on every worker. */
    String eventId() {
        var parts = JsonNodeFactory.instance
                .arrayNode()
                .add(door.name())
                .add(source)
                .add(id);
        byte[] hash = Arrays.copyOf(sha256(Json.bytes(parts)), BYTES);
        return "evt_" + Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
    }

    /** The trigger key of its run in one workflow; the keys of one event share a prefix. */
    Trigger.DoorName of(String eventId, String workflowId) {
        return new Trigger.DoorName(door, prefix(eventId) + workflowId, displayText(), WINDOW);
    }

    static String prefix(String eventId) {
        return eventId + "/";
    }

    private String displayText() {
        String text = (door == Door.HOOK ? "hook:" : "event:") + source + "/" + id;
        return text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN - 1) + "…";
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static boolean isEventId(String text) {
        return text.length() == 36
                && text.startsWith("evt_")
                && StandardCharsets.US_ASCII.newEncoder().canEncode(text);
    }
}
