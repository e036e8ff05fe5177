package dev.semel.server.ingress;

import dev.semel.json.StrictJson;
import dev.semel.store.StoredRows;
import tools.jackson.databind.node.ObjectNode;

/** Restores a stored event for reprocessing. */
public final class StoredEventReader {
    private StoredEventReader() {}

    /** Does not validate again, because webhook events may have values that callers may not send. */
    public static InboundEvent read(StoredRows.EventRow kept) {
        ObjectNode whole = StrictJson.parse(kept.body()).asObject();
        return new InboundEvent(kept.source(), kept.id(), kept.type(), null, null, whole.path("data"), whole);
    }
}
