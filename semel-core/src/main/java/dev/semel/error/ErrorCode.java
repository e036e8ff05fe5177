package dev.semel.error;

/**
 * Every error that a caller can see, once. `docs/reference/errors.md` lists the same codes; a test compares the two.
 */
public enum ErrorCode {
    IDEMPOTENCY_KEY_INVALID(400, false, "Idempotency-Key is not valid"),
    IDEMPOTENCY_KEY_REQUIRED(400, false, "Idempotency-Key is missing"),
    IDEMPOTENCY_KEY_CONFLICT(422, false, "Idempotency-Key was used before for something else"),
    IDEMPOTENCY_KEY_IN_USE(409, true, "The first request with this Idempotency-Key is still being admitted"),
    DUPLICATE_PAYLOAD(409, false, "The same payload was sent before under another key"),
    INVALID_INPUT(400, false, "The request is not valid"),
    INVALID_DEFINITION(400, false, "The workflow definition is not valid"),
    PAYLOAD_TOO_LARGE(413, false, "The request body is too large"),
    UNSUPPORTED_MEDIA_TYPE(415, false, "The request body has the wrong media type"),
    UNAUTHENTICATED(401, false, "The credential is missing or not known"),
    FORBIDDEN(403, false, "The credential does not allow this"),
    NOT_FOUND(404, false, "There is no such thing here"),
    METHOD_NOT_ALLOWED(405, false, "This method is not offered here"),
    PRECONDITION_FAILED(412, false, "The thing has changed since it was read"),
    PLAN_OUT_OF_DATE(412, false, "The world has moved since the plan was made"),
    REPLAY_REFUSED(409, false, "Nothing in the plan is safe to replay"),
    RESUME_REFUSED(409, false, "The run cannot go on in place"),
    OVER_QUOTA(429, true, "The quota of this token is used up for now"),
    STORE_UNAVAILABLE(503, true, "The store cannot take writes right now"),
    OVERLOADED(503, true, "The server has more requests at once than it takes"),
    SHUTTING_DOWN(503, true, "The server is shutting down"),
    INTERNAL(500, true, "Something went wrong inside Semel"),
    STEP_FAILED(500, false, "A step failed for good"),
    IN_DOUBT(409, false, "It is not known whether an effect happened"),
    REVIEW_DECIDED(409, false, "The review was decided, or is not asked any more"),
    RUN_CANCELLED(409, false, "The run was cancelled"),
    RUN_DIVERGED(500, false, "The code no longer fits what the run has on record"),
    RUN_TIMED_OUT(500, false, "The run took longer than its deadline"),
    RUN_HELD(409, false, "The run brought its worker down several times and is held"),
    WAITS_FOR_ITSELF(409, false, "The run would wait for its own end"),
    TRIGGERED_TOO_DEEP(409, false, "Too many runs have started each other"),
    RUN_NOT_ENDED(409, true, "The run has not ended yet"),
    TYPE_MISMATCH(500, false, "A value and its Java type do not fit"),
    SECRET_KEY_UNUSABLE(409, false, "The key for secrets is missing, or is another one"),
    WEBHOOK_SIGNATURE_INVALID(401, false, "The signature of the webhook does not fit"),
    WEBHOOK_TIMESTAMP_OUT_OF_TOLERANCE(401, false, "The time in the webhook is too far from now"),
    WEBHOOK_SIGNATURE_REUSED(409, false, "The signature of the webhook came before under another id"),
    WEBHOOK_NOT_READY(503, true, "The webhook cannot be checked right now"),
    LAST_ADMIN(409, false, "Nobody would be left who can administer"),
    IDENTITY_PROVIDER_UNUSABLE(503, true, "The identity provider cannot be used right now");

    private final int status;
    private final boolean retryable;
    private final String title;

    ErrorCode(int status, boolean retryable, String title) {
        this.status = status;
        this.retryable = retryable;
        this.title = title;
    }

    /** The stable name on the wire, e.g. `idempotency-key-conflict`. */
    public String slug() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    public int status() {
        return status;
    }

    public boolean retryable() {
        return retryable;
    }

    public String title() {
        return title;
    }
}
