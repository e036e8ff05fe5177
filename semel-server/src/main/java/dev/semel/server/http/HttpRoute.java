package dev.semel.server.http;

/**
 * One route: method, path pattern, required scope and handler.
 *
 * @param pattern e.g. {@code /v1/workflows/{id}/trigger}; a segment is a literal or one parameter
 * @param maxBody bytes; {@link #DEFAULT_BODY} means the server's own limit
 * @param headerCheck checks the headers before the server reads the body
 * @param session finds the caller of an open route before the server reads the body
 * @param always the route responds even if the server has too many requests in progress; its requests have no body
 */
public record HttpRoute(
        String method,
        String pattern,
        TokenScope scope,
        HttpRouteHandler handler,
        int maxBody,
        InboundRequestHeaderCheck headerCheck,
        SessionLookup session,
        boolean always) {
    public static final int DEFAULT_BODY = -1;

    public HttpRoute(String method, String pattern, TokenScope scope, HttpRouteHandler handler) {
        this(method, pattern, scope, handler, DEFAULT_BODY, InboundRequestHeaderCheck.NONE, SessionLookup.NONE, false);
    }

    public HttpRoute withMaxBody(int bytes) {
        return new HttpRoute(method, pattern, scope, handler, bytes, headerCheck, session, always);
    }

    public HttpRoute withHeaderCheck(InboundRequestHeaderCheck check) {
        return new HttpRoute(method, pattern, scope, handler, maxBody, check, session, always);
    }

    public HttpRoute withSession(SessionLookup lookup) {
        return new HttpRoute(method, pattern, scope, handler, maxBody, headerCheck, lookup, always);
    }

    public HttpRoute alwaysResponding() {
        return new HttpRoute(method, pattern, scope, handler, 0, headerCheck, session, true);
    }
}
