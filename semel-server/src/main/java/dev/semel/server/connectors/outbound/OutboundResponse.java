package dev.semel.server.connectors.outbound;

import dev.semel.error.HttpStatusException;
import dev.semel.http.response.IdempotentReplayedHeader;
import dev.semel.http.response.OutboundResponseJsonConverter;
import dev.semel.http.response.RetryAfterHeaderParser;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** The HTTP response to an outbound request, whatever its status. */
public record OutboundResponse(int status, HttpHeaders headers, byte[] body) {
    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }

    /** The body as JSON if the Content-Type is JSON, otherwise as text; a null node if it is empty. */
    public JsonNode json() {
        return OutboundResponseJsonConverter.read(headers, body);
    }

    /** Converts the status to a failure, with the response body and Retry-After. */
    public HttpStatusException toFailure() {
        return new HttpStatusException(
                status, json(), RetryAfterHeaderParser.parse(headers), IdempotentReplayedHeader.isSet(headers));
    }

    /** Returns this response if its status is 2xx, otherwise throws. */
    public OutboundResponse orThrow() {
        if (!isSuccess()) {
            throw toFailure();
        }
        return this;
    }

    @Override
    public String toString() {
        return "HTTP status " + status + ", " + body.length + " bytes";
    }
}
