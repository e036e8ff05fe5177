package dev.semel.server.outbound;

import dev.semel.http.Answered;
import dev.semel.http.RetryAfter;
import dev.semel.workflow.Failures;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** What came back, whatever its status. */
public record Answer(int status, HttpHeaders headers, byte[] body) {
    public boolean success() {
        return status >= 200 && status < 300;
    }

    /** As JSON where it says that it is, otherwise as a text; null's node where it is empty. */
    public JsonNode json() {
        return Answered.body(headers, body);
    }

    /** The status as a failure, with what the other side asks for. */
    public Failures.Status failure() {
        return new Failures.Status(status, json(), RetryAfter.of(headers));
    }

    /** This answer if it is a success. */
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
