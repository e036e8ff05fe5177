package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** The query parameters `limit` and `after` of a list request. */
record PagingParameters(int limit, @Nullable String after) {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;

    static PagingParameters parse(HttpRequest request) {
        String limit = request.query("limit");
        return new PagingParameters(limit == null ? DEFAULT_LIMIT : parseLimit(limit), request.query("after"));
    }

    static int parseLimit(String text) {
        if (text.length() <= 3 && !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            int value = Integer.parseInt(text);
            if (value >= 1 && value <= MAX_LIMIT) {
                return value;
            }
        }
        throw invalidQuery("limit must be a whole number from 1 to " + MAX_LIMIT);
    }

    /** Parses the cursor as a row id. */
    @Nullable
    RunId afterId() {
        if (after == null) {
            return null;
        }
        RunId id = RunId.parse("run_" + after);
        if (id == null) {
            throw invalidQuery("after must be the next value of an earlier response");
        }
        return id;
    }

    static String cursor(RunId id) {
        return id.text().substring("run_".length());
    }

    static SemelException invalidQuery(String what) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The query is not valid: " + what + ". Nothing was read.",
                "Correct the query and send the request again.");
    }
}
