package dev.semel.server.ingress;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.DatabaseRows;
import tools.jackson.databind.node.ObjectNode;

public final class StoredInboundEventReader {
    private StoredInboundEventReader() {}

    /** Does not validate again, because webhook events may have values that callers may not send. */
    public static InboundEvent read(DatabaseRows.EventRow eventRow) {
        ObjectNode whole = StrictJsonCodec.parse(eventRow.body()).asObject();
        return new InboundEvent(
                eventRow.source(), eventRow.id(), eventRow.type(), null, null, whole.path("data"), whole);
    }
}
