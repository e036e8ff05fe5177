package dev.semel.server.outbound;

import dev.semel.error.HttpStatus;
import dev.semel.http.response.ResponseBodyReader;
import dev.semel.http.response.RetryAfterHeader;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** The HTTP response to an outbound request, whatever its status. */
public record OutboundResponse(int status, HttpHeaders headers, byte[] body) {
    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }

    /** The body as JSON if the Content-Type is JSON, otherwise as text; a null node if it is empty. */
    public JsonNode json() {
        return ResponseBodyReader.read(headers, body);
    }

    /** Converts the status to a failure, with the response body and Retry-After. */
    public HttpStatus toFailure() {
        return new HttpStatus(status, json(), RetryAfterHeader.parse(headers));
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
