package dev.semel.server.alerts;

import dev.semel.run.RunId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stored state of an alert: firing or resolved, and the progress of its notification. Updates use optimistic locking. A
 * worker claims the notification for a limited time; after that another worker sends it again with the same key.
 *
 * @param id of this firing; part of the notification key
 * @param since when it started firing or was resolved
 * @param told whether the notification of this state was sent or given up
 * @param everTold whether a notification of the firing was sent, so that the resolution needs one too
 * @param tellingUntil end of a worker's claim to send the notification; 0 if there is none
 * @param attempts number of send attempts
 * @param trouble last send error; null if there was none
 */
record Episode(
        String id,
        boolean firing,
        long since,
        double value,
        boolean told,
        boolean everTold,
        long tellingUntil,
        int attempts,
        @Nullable String trouble) {
    private static final int MOST_ATTEMPTS = 20;

    /** The state of an alert that never fired. */
    static final Episode QUIET = new Episode("", false, 0, 0, true, false, 0, 0, null);

    static Episode of(JsonNode state) {
        return new Episode(
                state.path("id").asString(""),
                state.path("firing").asBoolean(false),
                state.path("since").asLong(0),
                state.path("value").asDouble(0),
                state.path("notified").asBoolean(true),
                state.path("ever_notified").asBoolean(false),
                state.path("notifying_until").asLong(0),
                state.path("attempts").asInt(0),
                state.path("notify_error").isString() ? state.path("notify_error").stringValue() : null);
    }

    JsonNode json() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("id", id).put("firing", firing).put("since", since).put("value", value);
        out.put("notified", told).put("ever_notified", everTold);
        out.put("notifying_until", tellingUntil).put("attempts", attempts).put("notify_error", trouble);
        return out;
    }

    /** The state after a check of the metric; the same object if nothing changed. */
    Episode after(boolean fires, double now, long at, RunId fresh) {
        if (fires == firing) {
            return this;
        }
        return fires
                ? new Episode(fresh.text(), true, at, now, false, false, 0, 0, null)
                // Without a notification of the firing, the resolution needs none.
                : new Episode(id, false, at, now, !everTold, everTold, 0, 0, null);
    }

    boolean mustTell(long at) {
        return !told && tellingUntil <= at;
    }

    Episode telling(long until) {
        return new Episode(id, firing, since, value, false, everTold, until, attempts + 1, trouble);
    }

    Episode done() {
        return new Episode(id, firing, since, value, true, firing, 0, attempts, null);
    }

    /** Keeps the claim, so that the next attempt waits. Gives up after the most attempts. */
    Episode failed(String why) {
        return new Episode(id, firing, since, value, attempts >= MOST_ATTEMPTS, everTold, tellingUntil, attempts, why);
    }

    /** The same for every attempt to send this notification. */
    String key() {
        return "alert/" + id + (firing ? "/fired" : "/over");
    }
}
