package dev.semel.workflow;

import dev.semel.error.TypeMismatch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What the code of a step or effect may throw to say more than "it failed". All unchecked. */
public final class Failures {
    private Failures() {}

    /** The request did not leave: it may be sent again under every protection. */
    public static final class NotSent extends RuntimeException {
        public NotSent(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The outside world said no, and did nothing. Not tried again. */
    public static final class Refused extends RuntimeException {
        public Refused(String message) {
            super(message);
        }
    }

    /**
     * It was done, and only what came of it cannot be kept: the step fails and is not done again. To be thrown only
     * where that is certain; anything else that goes wrong with an answer leaves open what happened.
     */
    public static final class NotKept extends RuntimeException {
        private final TypeMismatch why;

        public NotKept(TypeMismatch why) {
            super(why.getMessage(), why);
            this.why = why;
        }

        public TypeMismatch why() {
            return why;
        }
    }

    /** An HTTP answer that is not a success. 4xx but 408, 409, 425 and 429 is a refusal; 429 was not done. */
    public static final class Status extends RuntimeException {
        private final int status;
        private final transient JsonNode body;
        private final transient @Nullable Duration retryAfter;

        public Status(int status, JsonNode body, @Nullable Duration retryAfter) {
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
