package dev.semel.server.operations;

import dev.semel.server.http.ServerHttpRequest;

/** Handles an operation and returns the record of the response body. */
@FunctionalInterface
public interface OperationHandler<R> {
    R handle(ServerHttpRequest request) throws Exception;
}
