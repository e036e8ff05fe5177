package dev.semel.server.http;

/** A permission of an API token. No scope implies another, not even {@link #ADMIN}. */
public enum TokenScope {
    /** Requires no credential. Only for routes, never for tokens. */
    OPEN,
    TRIGGER,
    READ,
    OPERATE,
    REVIEW,
    ADMIN
}
