package dev.semel.error;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An HTTP response that is not a success. 4xx except 408, 409, 425 and 429 is a rejection; 429 had no effect. */
public final class HttpStatusException extends RuntimeException {
    private final int status;
    private final transient JsonNode body;
    private final transient @Nullable Duration retryAfter;

    public HttpStatusException(int status, JsonNode body, @Nullable Duration retryAfter) {
        super("HTTP status " + status);
        this.status = status;
        this.body = body;
        this.retryAfter = retryAfter;
    }

    public int status() {
        return status;
    }

    public JsonNode body() {
        return body;
    }

    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
