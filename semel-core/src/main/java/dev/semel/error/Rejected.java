package dev.semel.error;

/** The external system rejected the request and did nothing. Semel does not retry it. */
public final class Rejected extends RuntimeException {
    public Rejected(String message) {
        super(message);
    }
}
