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
 * @param notified whether the notification of this state was sent or given up
 * @param everNotified whether a notification of the firing was sent, so that the resolution needs one too
 * @param notifyingUntil end of a worker's claim to send the notification; 0 if there is none
 * @param attempts number of send attempts
 * @param lastError last send error; null if there was none
 */
record AlertState(
        String id,
        boolean firing,
        long since,
        double value,
        boolean notified,
        boolean everNotified,
        long notifyingUntil,
        int attempts,
        @Nullable String lastError) {
    private static final int MOST_ATTEMPTS = 20;

    static final AlertState NEVER_FIRED = new AlertState("", false, 0, 0, true, false, 0, 0, null);

    static AlertState parse(JsonNode state) {
        return new AlertState(
                state.path("id").asString(""),
                state.path("firing").asBoolean(false),
                state.path("since").asLong(0),
                state.path("value").asDouble(0),
                state.path("notified").asBoolean(true),
                state.path("ever_notified").asBoolean(false),
                state.path("notifying_until").asLong(0),
                state.path("attempts").asInt(0),
                state.path("notify_error").isString()
                        ? state.path("notify_error").stringValue()
                        : null);
    }

    JsonNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("id", id).put("firing", firing).put("since", since).put("value", value);
        out.put("notified", notified).put("ever_notified", everNotified);
        out.put("notifying_until", notifyingUntil).put("attempts", attempts).put("notify_error", lastError);
        return out;
    }

    /** The state after a check of the metric; the same object if nothing changed. */
    AlertState afterCheck(boolean fires, double now, long at, RunId fresh) {
        if (fires == firing) {
            return this;
        }
        return fires
                ? new AlertState(fresh.text(), true, at, now, false, false, 0, 0, null)
                // Without a notification of the firing, the resolution needs none.
                : new AlertState(id, false, at, now, !everNotified, everNotified, 0, 0, null);
    }

    boolean mustNotify(long at) {
        return !notified && notifyingUntil <= at;
    }

    AlertState withNotifyingUntil(long until) {
        return new AlertState(id, firing, since, value, false, everNotified, until, attempts + 1, lastError);
    }

    AlertState withNotified() {
        return new AlertState(id, firing, since, value, true, firing, 0, attempts, null);
    }

    /** Keeps the claim, so that the next attempt waits. Gives up after the most attempts. */
    AlertState withFailure(String why) {
        return new AlertState(
                id, firing, since, value, attempts >= MOST_ATTEMPTS, everNotified, notifyingUntil, attempts, why);
    }

    /** The same for every attempt to send this notification. */
    String notificationKey() {
        return "alert/" + id + (firing ? "/fired" : "/over");
    }
}
