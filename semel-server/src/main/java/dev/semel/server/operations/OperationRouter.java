package dev.semel.server.operations;

import dev.semel.idempotency.IdempotencyKey;
import dev.semel.server.http.CpuWorkPool;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.HttpRouter;

/** Routes requests to the handlers of operations. */
public record OperationRouter(HttpRouter router, CpuWorkPool cpu) {
    /** @param handler returns the record of the response */
    public <R> OperationRouter add(Operation<R> operation, OperationHandler<R> handler) {
        return addResponse(operation, request -> operation.respond(handler.handle(request)));
    }

    /** @param handler returns the whole response: with headers, as a stream, or as stored by an earlier request */
    public OperationRouter addResponse(Operation<?> operation, HttpRouteHandler handler) {
        HttpRouteHandler limited = operation.declared.cpuBound
                ? request -> cpu.run(request.principal().tokenId(), () -> handler.handle(request))
                : handler;
        HttpRoute route = new HttpRoute(operation.method(), operation.path(), operation.scope(), limited)
                .withMaxBody(operation.declared.maxBody);
        // A malformed key is rejected before the server reads the body.
        router.add(
                operation.changes()
                        ? route.withHeaderCheck(headers -> IdempotencyKey.fromHeader(headers.apply("Idempotency-Key")))
                        : route);
        return this;
    }
}
