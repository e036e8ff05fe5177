package dev.semel.server.doors;

import dev.semel.json.Json;
import dev.semel.store.Rows;
import tools.jackson.databind.node.ObjectNode;

/** An event as it was kept, to be handed out again. */
public final class KeptEvent {
    private KeptEvent() {}

    /** It was read before, so that it is well-formed; how it came in may allow more than events of callers do. */
    public static Event of(Rows.Event kept) {
        ObjectNode whole = Json.parse(kept.body()).asObject();
        return new Event(kept.source(), kept.id(), kept.type(), null, null, whole.path("data"), whole);
    }
}
