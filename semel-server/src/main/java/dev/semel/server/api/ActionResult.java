package dev.semel.server.api;

import dev.semel.server.http.ServerHttpResponse;
import tools.jackson.databind.JsonNode;

/** The response body of a change, and whether it was saved by an earlier request. */
record ActionResult(JsonNode body, boolean replayed) {
    ServerHttpResponse toResponse() {
        return RunJsonRenderer.ok(body, replayed);
    }
}
