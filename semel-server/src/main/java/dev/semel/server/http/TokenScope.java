package dev.semel.server.http;

/** A permission of an API token. No scope implies another, not even {@link #ADMIN}. */
public enum TokenScope {
    /** Requires no credential. Only for routes, never for tokens. */
    OPEN,
    TRIGGER,
    READ,
    OPERATE,
    REVIEW,
    /** Changes everything in its own workspace. */
    ADMIN,
    /** What concerns all workspaces: their names, new ones, their metrics, the clock. No user role contains it. */
    SERVER
}
