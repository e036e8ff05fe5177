package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.server.http.Request;
import org.jspecify.annotations.Nullable;

/** The query parameters `limit` and `after` of a list request. */
record Paging(int limit, @Nullable String after) {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;

    static Paging of(Request request) {
        String limit = request.query("limit");
        return new Paging(limit == null ? DEFAULT_LIMIT : number(limit), request.query("after"));
    }

    static int number(String text) {
        if (text.length() <= 3 && !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            int value = Integer.parseInt(text);
            if (value >= 1 && value <= MAX_LIMIT) {
                return value;
            }
        }
        throw refused("limit must be a whole number from 1 to " + MAX_LIMIT);
    }

    /** Parses the cursor as a row id. */
    @Nullable
    RunId afterId() {
        if (after == null) {
            return null;
        }
        RunId id = RunId.parse("run_" + after);
        if (id == null) {
            throw refused("after must be the next value of an earlier response");
        }
        return id;
    }

    static String cursor(RunId id) {
        return id.text().substring("run_".length());
    }

    static SemelException refused(String what) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The query is not valid: " + what + ". Nothing was read.",
                "Correct the query and send the request again.");
    }
}
