package dev.semel.server.alerts;

import dev.semel.run.RunId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * How an alert stands, as it is kept in the store. Every change is made over the version that was read, so of several
 * workers one makes it. Who is about to tell somebody says so first, for a while; whoever finds that while over tells
 * again, with the same key.
 *
 * @param id of this time that it fires; part of the key of its messages
 * @param since when it began, or when it was over
 * @param told the message about this state is out, or is given up
 * @param everTold somebody knows that it fires, and is to know that it is over
 * @param tellingUntil somebody is about to tell until then; 0 where nobody is
 * @param attempts how often somebody tried
 * @param trouble why it was not told; null where nothing went wrong
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

    /** It never fired. */
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

    /** After a look at the signal; the same one where nothing has changed. */
    Episode after(boolean fires, double now, long at, RunId fresh) {
        if (fires == firing) {
            return this;
        }
        return fires
                ? new Episode(fresh.text(), true, at, now, false, false, 0, 0, null)
                // Whoever does not know that it fired need not be told that it is over.
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

    /** It stays said that somebody tells, so that the next attempt waits. After many of them it is given up. */
    Episode failed(String why) {
        return new Episode(id, firing, since, value, attempts >= MOST_ATTEMPTS, everTold, tellingUntil, attempts, why);
    }

    /** The same for every attempt to tell this. */
    String key() {
        return "alert/" + id + (firing ? "/fired" : "/over");
    }
}
