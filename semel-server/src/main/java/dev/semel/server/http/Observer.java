package dev.semel.server.http;

import java.util.UUID;

/** Hears about every answer and every unexpected error. Called on the request's thread: be quick, do not throw. */
public interface Observer {
    /** Watches nothing. */
    Observer NONE = new Observer() {};

    /**
     * @param route the pattern of the route, e.g. {@code /v1/runs/{run_id}}, or {@code -} where none matched, so that
     *     a stranger cannot invent metric labels
     */
    default void answered(String route, int status, long nanos) {}

    /** @param instance the id that the caller was shown as {@code urn:uuid:…} */
    default void failed(String route, UUID instance, Throwable error) {}
}
