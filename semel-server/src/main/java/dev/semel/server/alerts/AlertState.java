package dev.semel.server.alerts;

import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
 * @param reported what the notifications of the firing are about
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
        @Nullable String lastError,
        Reported reported) {
    private static final int MOST_ATTEMPTS = 20;

    static final AlertState NEVER_FIRED = new AlertState("", false, 0, 0, true, false, 0, 0, null, Reported.NOTHING);

    /**
     * What the notifications of a firing are about. The resolution keeps it.
     *
     * @param firedAt when the alert started firing
     * @param further number of notifications after the first
     * @param at when the last notification became due
     * @param resends the re-sends that the last notification is about; empty for other metrics
     */
    record Reported(long firedAt, int further, long at, List<String> resends) {
        static final Reported NOTHING = new Reported(0, 0, 0, List.of());

        static Reported parse(JsonNode state) {
            return new Reported(
                    state.path("fired_at").asLong(0),
                    state.path("further").asInt(0),
                    state.path("at").asLong(0),
                    state.path("resends").valueStream().map(JsonNode::asString).toList());
        }

        void writeTo(ObjectNode out) {
            out.put("fired_at", firedAt).put("further", further).put("at", at);
            resends.forEach(out.putArray("resends")::add);
        }
    }

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
                        : null,
                Reported.parse(state.path("reported")));
    }

    JsonNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("id", id).put("firing", firing).put("since", since).put("value", value);
        out.put("notified", notified).put("ever_notified", everNotified);
        out.put("notifying_until", notifyingUntil).put("attempts", attempts).put("notify_error", lastError);
        reported.writeTo(out.putObject("reported"));
        return out;
    }

    /**
     * The state after a check of the metric; the same object if nothing changed. While the alert fires, a re-send that no
     * notification was about leads to a further one: after a pause, or at once if the re-send would end too soon.
     *
     * @param expiring the re-sends that the metric counts, soonest first; empty for other metrics
     * @param pause between two notifications of a firing
     */
    AlertState afterCheck(
            boolean fires, double now, long at, RunId fresh, List<DatabaseRows.ExpiringResend> expiring, long pause) {
        if (fires != firing) {
            return fires
                    ? ofFiring(fresh.text(), at, now, false, new Reported(at, 0, at, ids(expiring)))
                    // Without a notification of the firing, the resolution needs none.
                    : new AlertState(id, false, at, now, !everNotified, everNotified, 0, 0, null, reported);
        }
        Set<String> known = new HashSet<>(reported.resends());
        List<DatabaseRows.ExpiringResend> added =
                expiring.stream().filter(one -> !known.contains(id(one))).toList();
        long next = reported.at() + pause;
        if (!firing
                || !notified
                || added.isEmpty()
                || at < next && added.getFirst().until() > next + pause) {
            return this;
        }
        Reported more = new Reported(reported.firedAt(), reported.further() + 1, at, ids(expiring));
        return ofFiring(id, since, now, everNotified, more);
    }

    private static AlertState ofFiring(String id, long since, double value, boolean everNotified, Reported reported) {
        return new AlertState(id, true, since, value, false, everNotified, 0, 0, null, reported);
    }

    private static List<String> ids(List<DatabaseRows.ExpiringResend> expiring) {
        return expiring.stream().map(AlertState::id).toList();
    }

    /** A resumed run may have another effect with another end. */
    private static String id(DatabaseRows.ExpiringResend one) {
        return one.run().text() + "@" + one.until();
    }

    boolean mustNotify(long at) {
        return !notified && notifyingUntil <= at;
    }

    AlertState withNotifyingUntil(long until) {
        return new AlertState(id, firing, since, value, false, everNotified, until, attempts + 1, lastError, reported);
    }

    AlertState withNotified() {
        return new AlertState(id, firing, since, value, true, firing, 0, attempts, null, reported);
    }

    /** Keeps the claim, so that the next attempt waits. Gives up after the most attempts. */
    AlertState withFailure(String why) {
        return new AlertState(
                id,
                firing,
                since,
                value,
                attempts >= MOST_ATTEMPTS,
                everNotified,
                notifyingUntil,
                attempts,
                why,
                reported);
    }

    /** The same for every attempt to send this notification. */
    String notificationKey() {
        String further = reported.further() == 0 ? "" : "/" + reported.further();
        return "alert/" + id + (firing ? "/fired" + further : "/over");
    }
}
