package dev.semel.server.operations.system;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowFileJsonSchema;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.ApiErrors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Serves the reference documentation from the jar, so that the links in error responses work on the same server. */
public final class DocumentationRoutes {
    /** The pages of the reference, in the order in which a reader needs them. */
    private static final List<String> PAGES = List.of(
            "api",
            "operations",
            "idempotency",
            "errors",
            "workflow-files",
            "events",
            "channels",
            "settings",
            "monitoring",
            "cli",
            "java");

    /** An index of the pages for programs that read documentation, see llmstxt.org. */
    public ServerHttpResponse index(ServerHttpRequest request) {
        StringBuilder index =
                new StringBuilder("# Semel\n\n> A durable workflow server: the same trigger, step, message"
                        + " or recovery does its work once.\n\n## Reference\n\n");
        for (String name : PAGES) {
            String title = text(name).lines().findFirst().orElse(name).replaceFirst("^# ", "");
            index.append("- [%s](/docs/%s.md)\n".formatted(title, name));
        }
        return plain(index.toString());
    }

    /** All pages of the index in one text. */
    public ServerHttpResponse allPages(ServerHttpRequest request) {
        return plain(PAGES.stream().map(DocumentationRoutes::text).collect(Collectors.joining("\n")));
    }

    private static String text(String name) {
        return ApiErrors.orThrow(resource("/dev/semel/server/docs/" + name + ".md"), DocumentationRoutes::missing);
    }

    /** A page; `.md` at the end of its name changes nothing. */
    public ServerHttpResponse page(ServerHttpRequest request) {
        String name = request.parameter("page").replaceFirst("\\.md$", "");
        String text = ApiErrors.orThrow(
                name.matches("[a-z-]{1,40}") ? resource("/dev/semel/server/docs/" + name + ".md") : null,
                DocumentationRoutes::missing);
        return plain(text);
    }

    /** The section of the errors page for one error code. */
    public ServerHttpResponse problem(ServerHttpRequest request) {
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
    public ServerHttpResponse schema(ServerHttpRequest request) {
        return ServerHttpResponse.of(200, "application/schema+json", WorkflowFileJsonSchema.bytes());
    }

    private static ServerHttpResponse plain(String text) {
        return ServerHttpResponse.of(200, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    private static SemelException missing() {
        return ApiErrors.notFound(
                "This server has no documentation page with this name. Nothing was changed.",
                "/llms.txt lists the pages.");
    }

    private static @Nullable String resource(String path) {
        try (InputStream in = DocumentationRoutes.class.getResourceAsStream(path)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(path + " cannot be read", e);
        }
    }
}
