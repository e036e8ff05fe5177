package dev.semel.server.http;

/**
 * One route: method, path pattern, required scope and handler.
 *
 * @param pattern e.g. {@code /v1/workflows/{id}/trigger}; a segment is a literal or one parameter
 * @param maxBody bytes; {@link #DEFAULT_BODY} means the server's own limit
 * @param head checks the headers before the server reads the body
 */
public record Route(String method, String pattern, Scope scope, Handler handler, int maxBody, HeadCheck head) {
    public static final int DEFAULT_BODY = -1;

    public Route(String method, String pattern, Scope scope, Handler handler) {
        this(method, pattern, scope, handler, DEFAULT_BODY, HeadCheck.NONE);
    }

    public Route withMaxBody(int bytes) {
        return new Route(method, pattern, scope, handler, bytes, head);
    }

    public Route withHead(HeadCheck check) {
        return new Route(method, pattern, scope, handler, maxBody, check);
    }
}
