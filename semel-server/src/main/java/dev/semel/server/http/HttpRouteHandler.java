package dev.semel.server.http;

/** Handles requests of one route. A thrown {@link dev.semel.error.SemelException} becomes a problem response. */
@FunctionalInterface
public interface HttpRouteHandler {
    ServerHttpResponse handle(ServerHttpRequest request) throws Exception;
}
