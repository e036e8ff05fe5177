package dev.semel.server.operations;

import dev.semel.idempotency.IdempotencyKey;
import dev.semel.server.http.CpuWorkPool;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.TokenScope;

/** Every route that changes state rejects a malformed `Idempotency-Key` before it reads the body. */
public record ApiRouter(HttpRouter router, CpuWorkPool cpu) {
    public ApiRouter get(String pattern, TokenScope scope, HttpRouteHandler handler) {
        router.add("GET", pattern, scope, handler);
        return this;
    }

    /** An open route that responds even if the server has too many requests in progress. */
    public ApiRouter getAlways(String pattern, HttpRouteHandler handler) {
        router.add(new HttpRoute("GET", pattern, TokenScope.OPEN, handler).alwaysResponding());
        return this;
    }

    public ApiRouter post(String pattern, TokenScope scope, HttpRouteHandler handler) {
        return change("POST", pattern, scope, handler, HttpRoute.DEFAULT_BODY);
    }

    public ApiRouter put(String pattern, TokenScope scope, HttpRouteHandler handler) {
        return change("PUT", pattern, scope, handler, HttpRoute.DEFAULT_BODY);
    }

    public ApiRouter delete(String pattern, TokenScope scope, HttpRouteHandler handler) {
        return change("DELETE", pattern, scope, handler, HttpRoute.DEFAULT_BODY);
    }

    /** Runs a handler that computes much and waits for little on the pool for such work. */
    public HttpRouteHandler cpuBound(HttpRouteHandler handler) {
        return request -> cpu.run(request.principal().tokenId(), () -> handler.handle(request));
    }

    /** @param maxBody bytes */
    public ApiRouter change(String method, String pattern, TokenScope scope, HttpRouteHandler handler, int maxBody) {
        router.add(new HttpRoute(method, pattern, scope, handler)
                .withHeaderCheck(headers -> IdempotencyKey.fromHeader(headers.apply("Idempotency-Key")))
                .withMaxBody(maxBody));
        return this;
    }
}
