package dev.semel.server.hooks;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A delivery as it came in: nothing of it is believed yet.
 *
 * @param headers every line of a header by its name
 * @param body the bytes that were signed, untouched
 * @param cloud every header that begins with {@code ce-}, for CloudEvents in binary mode
 */
public record Letter(Function<String, List<String>> headers, byte[] body, Map<String, List<String>> cloud) {
    /** One without attributes in its headers. */
    public Letter(Function<String, List<String>> headers, byte[] body) {
        this(headers, body, Map.of());
    }

    /** The one line of the first of these headers that is there; null where none is, or one came twice. */
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
