package dev.semel.server.dashboard.page;

import dev.semel.server.access.SignedInUser;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** @param parameters by name; {@link #with} adds to them */
public record PageBuilder(
        PageRenderer renderer,
        ServerHttpRequest request,
        @Nullable SignedInUser user,
        String template,
        String title,
        String section,
        Map<String, Object> parameters) {
    public PageBuilder with(String name, Object value) {
        parameters.put(name, value);
        return this;
    }

    public ServerHttpResponse show() {
        return show(200);
    }

    public ServerHttpResponse show(int status) {
        return renderer.render(status, this);
    }
}
