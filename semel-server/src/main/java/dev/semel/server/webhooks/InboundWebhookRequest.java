package dev.semel.server.webhooks;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An unverified webhook request: its headers and raw body.
 *
 * @param headers all values of a header by its name
 * @param body the raw bytes that the signature covers
 * @param cloudEventHeaders all headers that begin with {@code ce-}, for CloudEvents in binary mode
 */
public record InboundWebhookRequest(
        Function<String, List<String>> headers, byte[] body, Map<String, List<String>> cloudEventHeaders) {
    public InboundWebhookRequest(Function<String, List<String>> headers, byte[] body) {
        this(headers, body, Map.of());
    }

    /** The value of the first of these headers that is present; null if none is, or one appears twice. */
    @Nullable
    String header(List<String> names) {
        for (String name : names) {
            List<String> lines = headers.apply(name);
            if (!lines.isEmpty()) {
                return lines.size() == 1 ? lines.getFirst() : null;
            }
        }
        return null;
    }

    @Nullable
    String header(@Nullable String name) {
        return name == null ? null : header(List.of(name));
    }
}
