package dev.semel.workflow;

import dev.semel.error.TypeMismatch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Exceptions that step and effect code throws to tell the engine what is known about a failed call. */
public final class CallFailures {
    private CallFailures() {}

    /** The request was certainly not sent, so Semel may send it again under every protection. */
    public static final class NotSent extends RuntimeException {
        public NotSent(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The external system rejected the request and did nothing. Semel does not retry it. */
    public static final class Rejected extends RuntimeException {
        public Rejected(String message) {
            super(message);
        }
    }

    /**
     * The effect happened, but its result cannot be recorded: the step fails and Semel does not repeat it. Throw this
     * only if it is certain; any other problem with a response leaves the outcome unknown.
     */
    public static final class ResultNotRecordable extends RuntimeException {
        private final TypeMismatch why;

        public ResultNotRecordable(TypeMismatch why) {
            super(why.getMessage(), why);
            this.why = why;
        }

        public TypeMismatch why() {
            return why;
        }
    }

    /** An HTTP response that is not a success. 4xx except 408, 409, 425 and 429 is a rejection; 429 had no effect. */
    public static final class HttpStatus extends RuntimeException {
        private final int status;
        private final transient JsonNode body;
        private final transient @Nullable Duration retryAfter;

        public HttpStatus(int status, JsonNode body, @Nullable Duration retryAfter) {
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
}
