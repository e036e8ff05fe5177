package dev.semel.error;

/**
 * The codes of all errors that callers can see, with HTTP status and title.
 * `docs/reference/errors.md` lists the same codes; a test compares the two.
 */
public enum ErrorCode {
    IDEMPOTENCY_KEY_INVALID(400, false, "Idempotency-Key is not valid"),
    IDEMPOTENCY_KEY_REQUIRED(400, false, "Idempotency-Key is missing"),
    IDEMPOTENCY_KEY_CONFLICT(422, false, "Idempotency-Key was used before for a different request"),
    IDEMPOTENCY_KEY_IN_USE(409, true, "The first request with this Idempotency-Key is still being admitted"),
    DUPLICATE_PAYLOAD(409, false, "The same payload was sent before under another key"),
    INVALID_INPUT(400, false, "The request is not valid"),
    INVALID_DEFINITION(400, false, "The workflow definition is not valid"),
    PAYLOAD_TOO_LARGE(413, false, "The request body is too large"),
    UNSUPPORTED_MEDIA_TYPE(415, false, "The request body has the wrong media type"),
    UNAUTHENTICATED(401, false, "The credential is missing or invalid"),
    FORBIDDEN(403, false, "The credential does not allow this action"),
    HOST_NOT_ALLOWED(403, false, "The server does not serve this host"),
    NOT_FOUND(404, false, "Not found"),
    METHOD_NOT_ALLOWED(405, false, "The resource does not support this method"),
    PRECONDITION_FAILED(412, false, "The resource has changed since it was read"),
    PLAN_OUT_OF_DATE(412, false, "The replay plan is out of date"),
    REPLAY_REFUSED(409, false, "The plan has no run that is safe to replay"),
    RESUME_REFUSED(409, false, "The run cannot be resumed"),
    OVER_QUOTA(429, true, "The token has used up its quota"),
    TOO_MANY_SIGNALS(429, true, "The run has too many unread signals"),
    STORE_UNAVAILABLE(503, true, "The store is unavailable"),
    OVERLOADED(503, true, "The server has too many concurrent requests"),
    SHUTTING_DOWN(503, true, "The server is shutting down"),
    INTERNAL(500, true, "Internal error"),
    STEP_FAILED(500, false, "A step failed permanently"),
    RESULT_NOT_RECORDABLE(500, false, "The effect happened, but its result cannot be recorded"),
    IN_DOUBT(409, false, "The outcome of an effect is unknown"),
    OUTCOME_UNKNOWN(500, false, "The attempts of an effect ended with an unknown outcome"),
    REVIEW_DECIDED(409, false, "The review was already decided or closed"),
    RUN_CANCELLED(409, false, "The run was cancelled"),
    APPROVAL_REJECTED(409, false, "An approval was rejected"),
    RUN_DIVERGED(500, false, "The workflow code does not match the run's journal"),
    RUN_TIMED_OUT(500, false, "The run took longer than its deadline"),
    RUN_TOO_LARGE(500, false, "The run reached a limit of its size"),
    RUN_HELD(409, false, "The run is held because its worker crashed repeatedly"),
    WAITS_FOR_ITSELF(409, false, "The run would wait for its own end"),
    TRIGGERED_TOO_DEEP(409, false, "The chain of runs, each started by the previous one, is too long"),
    RUN_NOT_ENDED(409, true, "The run has not ended yet"),
    TYPE_MISMATCH(500, false, "A value does not match its Java type"),
    SECRET_KEY_UNUSABLE(409, false, "The encryption key for secrets is missing or wrong"),
    WEBHOOK_SIGNATURE_INVALID(401, false, "The webhook signature is not valid"),
    WEBHOOK_TIMESTAMP_OUT_OF_TOLERANCE(401, false, "The webhook timestamp is outside the tolerance"),
    WEBHOOK_SIGNATURE_REUSED(409, false, "The webhook signature was used before with another id"),
    WEBHOOK_NOT_READY(503, true, "The server cannot verify the webhook right now"),
    LAST_ADMIN(409, false, "The last administrator cannot be removed"),
    IDENTITY_PROVIDER_UNUSABLE(503, true, "The identity provider is unavailable");

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
