package dev.semel.error;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An HTTP response that is not a success. 4xx except 408, 409, 425 and 429 is a rejection; 429 had no effect. */
public final class HttpStatusException extends RuntimeException {
    private final int status;
    private final transient JsonNode body;
    private final transient @Nullable Duration retryAfter;
    private final boolean replayed;

    public HttpStatusException(int status, JsonNode body, @Nullable Duration retryAfter) {
        this(status, body, retryAfter, false);
    }

    /** @param replayed whether the provider marks the response as a stored one that it repeats for the key */
    public HttpStatusException(int status, JsonNode body, @Nullable Duration retryAfter, boolean replayed) {
        super("HTTP status " + status);
        this.status = status;
        this.body = body;
        this.retryAfter = retryAfter;
        this.replayed = replayed;
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

    /** Whether the provider repeats a stored response for the key, so that sending the key again changes nothing. */
    public boolean replayed() {
        return replayed;
    }
}
