package dev.semel.server.connectors.ingress;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Map;

/** Creates the error for an invalid event. It names the attribute, never its value. */
final class InboundEventErrorFactory {
    private InboundEventErrorFactory() {}

    static SemelException of(String attribute, String message) {
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The event is not valid: " + message + ". Nothing was stored and no run was started.",
                        "Correct the event and send it again with the same id.")
                .with("attribute", attribute)
                .with("errors", List.of(Map.of("pointer", "/" + attribute, "message", message)));
    }
}
