package dev.semel.server.http;

/**
 * One route: method, path pattern, required scope and handler.
 *
 * @param pattern e.g. {@code /v1/workflows/{id}/trigger}; a segment is a literal or one parameter
 * @param maxBody bytes; {@link #DEFAULT_BODY} means the server's own limit
 * @param headerCheck checks the headers before the server reads the body
 */
public record Route(
        String method, String pattern, TokenScope scope, RouteHandler handler, int maxBody, HeaderCheck headerCheck) {
    public static final int DEFAULT_BODY = -1;

    public Route(String method, String pattern, TokenScope scope, RouteHandler handler) {
        this(method, pattern, scope, handler, DEFAULT_BODY, HeaderCheck.NONE);
    }

    public Route withMaxBody(int bytes) {
        return new Route(method, pattern, scope, handler, bytes, headerCheck);
    }

    public Route withHeaderCheck(HeaderCheck check) {
        return new Route(method, pattern, scope, handler, maxBody, check);
    }
}
