package dev.semel.error;

import org.jspecify.annotations.Nullable;

/** The request was certainly not sent, so Semel may send it again under every protection. */
public final class RequestNotSent extends RuntimeException {
    public RequestNotSent(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
