package dev.semel.server.doors;

import dev.semel.json.Json;
import dev.semel.store.Rows;
import tools.jackson.databind.node.ObjectNode;

/** Restores a stored event for reprocessing. */
public final class KeptEvent {
    private KeptEvent() {}

    /** Does not validate again, because webhook events may have values that callers may not send. */
    public static Event of(Rows.Event kept) {
        ObjectNode whole = Json.parse(kept.body()).asObject();
        return new Event(kept.source(), kept.id(), kept.type(), null, null, whole.path("data"), whole);
    }
}
