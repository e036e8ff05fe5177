package dev.semel.server.connectors.ingress;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.DatabaseRows;

public final class StoredInboundEventReader {
    private StoredInboundEventReader() {}

    /** Does not validate again, because webhook events may have values that callers may not send. */
    public static InboundEvent read(DatabaseRows.EventRow eventRow) {
        return InboundEvent.of(StrictJsonCodec.parse(eventRow.body()));
    }
}
