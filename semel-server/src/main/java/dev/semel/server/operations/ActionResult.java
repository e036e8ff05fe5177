package dev.semel.server.operations;

import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.RunJsonRenderer;
import tools.jackson.databind.JsonNode;

/** The response body of a change, and whether it was saved by an earlier request. */
public record ActionResult(JsonNode body, boolean replayed) {
    public ServerHttpResponse toResponse() {
        return RunJsonRenderer.ok(body, replayed);
    }
}
