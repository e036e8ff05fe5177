package dev.semel.idempotency;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Map;

/**
 * A run id chosen by the caller: the alphabet of keys without spaces and slashes, because it is part of URLs. {@code .}
 * and {@code ..} are rejected, because clients remove them from a path.
 */
public record ChosenRunId(String text) {
    public static final int MAX_LENGTH = 128;

    public ChosenRunId {
        if (text.isEmpty()) {
            throw invalid("it is empty");
        }
        if (text.length() > MAX_LENGTH) {
            throw invalid("it has " + text.length() + " characters, but at most " + MAX_LENGTH + " are allowed");
        }
        if (text.equals(".") || text.equals("..")) {
            throw invalid("it consists of dots only, which clients remove from a URL path");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c <= 0x20 || c > 0x7E || c == '/') {
                throw invalid(IdempotencyKeyAlphabet.describe(text, i) + ", which is not visible ASCII or is a slash");
            }
        }
    }

    private static SemelException invalid(String rule) {
        String message = "The run_id is not valid: " + rule;
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        message + ". Nothing was started or changed.",
                        "Choose 1 to 128 visible ASCII characters, without spaces or slashes.")
                .with("errors", List.of(Map.of("pointer", "/run_id", "message", rule)));
    }
}
