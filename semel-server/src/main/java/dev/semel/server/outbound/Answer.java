package dev.semel.server.outbound;

import dev.semel.http.Answered;
import dev.semel.http.RetryAfter;
import dev.semel.workflow.Failures;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** The HTTP response to an outbound request, whatever its status. */
public record Answer(int status, HttpHeaders headers, byte[] body) {
    public boolean success() {
        return status >= 200 && status < 300;
    }

    /** The body as JSON if the Content-Type is JSON, otherwise as text; a null node if it is empty. */
    public JsonNode json() {
        return Answered.body(headers, body);
    }

    /** Converts the status to a failure, with the response body and Retry-After. */
    public Failures.Status failure() {
        return new Failures.Status(status, json(), RetryAfter.of(headers));
    }

    /** Returns this response if its status is 2xx, otherwise throws. */
    public Answer orThrow() {
        if (!success()) {
            throw failure();
        }
        return this;
    }

    @Override
    public String toString() {
        return "HTTP status " + status + ", " + body.length + " bytes";
    }
}
