package dev.semel.error;

/** The external system rejected the request and did nothing. Semel does not retry it. */
public final class RequestRejected extends RuntimeException {
    public RequestRejected(String message) {
        super(message);
    }
}
