package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.definition.WorkflowFileJsonSchema;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Serves the reference documentation from the jar, so that the links in error responses work on the same server. */
final class DocumentationRoutes {
    ServerHttpResponse page(ServerHttpRequest request) {
        String name = request.parameter("page");
        String text = ApiErrors.orThrow(
                name.matches("[a-z-]{1,40}") ? resource("/dev/semel/server/docs/" + name + ".md") : null,
                DocumentationRoutes::missing);
        return plain(text);
    }

    /** The section of the errors page for one error code. */
    ServerHttpResponse problem(ServerHttpRequest request) {
        String code = request.parameter("code");
        String errors = resource("/dev/semel/server/docs/errors.md");
        boolean known =
                Arrays.stream(ErrorCode.values()).anyMatch(one -> one.slug().equals(code));
        if (!known || errors == null) {
            throw missing();
        }
        int from = errors.indexOf("\n## " + code + "\n") + 1;
        int to = errors.indexOf("\n## ", from);
        return plain(errors.substring(from, to < 0 ? errors.length() : to).strip() + "\n");
    }

    /** For editors: `# yaml-language-server: $schema=http://localhost:8085/schema/workflow-1.json`. */
    ServerHttpResponse schema(ServerHttpRequest request) {
        return ServerHttpResponse.of(200, "application/schema+json", WorkflowFileJsonSchema.bytes());
    }

    private static ServerHttpResponse plain(String text) {
        return ServerHttpResponse.of(200, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    private static SemelException missing() {
        return ApiErrors.notFound(
                "This server has no documentation page with this name. Nothing was changed.",
                "The pages are /docs/idempotency, /docs/errors, /docs/api.");
    }

    private static @Nullable String resource(String path) {
        try (InputStream in = DocumentationRoutes.class.getResourceAsStream(path)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(path + " cannot be read", e);
        }
    }
}
