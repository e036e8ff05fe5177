package dev.semel.server.http;

import java.util.UUID;

/** Receives every response and every unexpected error. Runs on the request's thread: be quick, do not throw. */
public interface ServerHttpRequestObserver {
    ServerHttpRequestObserver NONE = new ServerHttpRequestObserver() {};

    /**
     * @param route the pattern of the route, e.g. {@code /v1/runs/{run_id}}, or {@code -} if none matched, so that
     *     clients cannot create metric labels
     */
    default void onResponse(String route, int status, long nanos) {}

    /** @param instance the id that the client got as {@code urn:uuid:…} */
    default void onError(String route, UUID instance, Throwable error) {}
}
