package dev.semel.server.http;

/** What a token may do. A token lists its scopes; none implies another, {@link #ADMIN} included. */
public enum Scope {
    /** No credential needed. Never a scope of a token, only of a route. */
    OPEN,
    TRIGGER,
    READ,
    OPERATE,
    REVIEW,
    ADMIN
}
