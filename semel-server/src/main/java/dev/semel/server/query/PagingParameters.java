package dev.semel.server.query;

import dev.semel.run.RunId;
import dev.semel.server.http.ServerHttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

public record PagingParameters(int limit, @Nullable String after) {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;
    private static final String NO_CURSOR = "`after` must be the `next` value of an earlier response";

    public static PagingParameters parse(ServerHttpRequest request) {
        String limit = request.query("limit");
        return new PagingParameters(limit == null ? DEFAULT_LIMIT : parseLimit(limit), request.query("after"));
    }

    public static int parseLimit(String text) {
        if (text.length() <= 3 && !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            int value = Integer.parseInt(text);
            if (value >= 1 && value <= MAX_LIMIT) {
                return value;
            }
        }
        throw ApiErrors.invalidQuery("limit must be a whole number from 1 to " + MAX_LIMIT);
    }

    @Nullable
    public RunId afterId() {
        if (after == null) {
            return null;
        }
        return ApiErrors.orThrow(RunId.parse("run_" + after), () -> ApiErrors.invalidQuery(NO_CURSOR));
    }

    /** Encodes a text as an opaque cursor. */
    public static String encode(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** @throws IllegalArgumentException if it is no cursor of {@link #encode} */
    public static String decode(String cursor) {
        return new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
    }

    /** The encoded text of the cursor; empty on the first page. */
    public String afterText() {
        try {
            return after == null ? "" : decode(after);
        } catch (IllegalArgumentException e) {
            throw ApiErrors.invalidQuery(NO_CURSOR);
        }
    }

    public static String cursor(RunId id) {
        return id.text().substring("run_".length());
    }
}
