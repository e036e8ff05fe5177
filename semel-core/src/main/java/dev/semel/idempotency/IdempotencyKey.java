package dev.semel.idempotency;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The caller's idempotency key in canonical form: 1 to 255 characters from U+0020 to U+007E, compared byte by byte. No
 * case rules and no Unicode normalisation, so all stores agree on which keys are equal.
 */
public record IdempotencyKey(String text) {
    public static final int MAX_LENGTH = 255;

    private static final String FIX =
            "Send the header once, with 1 to 255 visible ASCII characters. Double quotes around them are optional.";

    public IdempotencyKey {
        if (text.isEmpty()) {
            throw invalid(text, "it is empty");
        }
        if (text.length() > MAX_LENGTH) {
            throw invalid(text, "it has " + text.length() + " characters, but at most " + MAX_LENGTH + " are allowed");
        }
        int outside = IdempotencyKeyAlphabet.firstOutside(text);
        if (outside >= 0) {
            throw invalid(text, IdempotencyKeyAlphabet.describe(text, outside) + ", which is not visible ASCII");
        }
    }

    /** A key from a JSON body or an expression, not from a header. Quotes are part of it. */
    public static IdempotencyKey of(String text) {
        return new IdempotencyKey(text);
    }

    /** Null without a header. {@code "abc"} and {@code abc} are the same key. */
    public static @Nullable IdempotencyKey fromHeader(List<String> lines) {
        if (lines.isEmpty()) {
            return null;
        }
        if (lines.size() > 1) {
            throw invalid("", "the header was sent " + lines.size() + " times, but only once is allowed");
        }
        String value = trimmed(lines.getFirst());
        if (!value.startsWith("\"")) {
            return new IdempotencyKey(value);
        }
        return switch (StructuredHeaderStringParser.parse(value)) {
            case StructuredHeaderStringParser.Parsed(String key) -> new IdempotencyKey(key);
            case StructuredHeaderStringParser.Rejected(String rule) -> throw invalid(value, rule);
        };
    }

    /** For logs: enough to recognise a key, not enough to use it. */
    public String shortened() {
        return text.length() <= 16 ? text : text.substring(0, 8) + "…" + text.substring(text.length() - 4);
    }

    /** The shortened form, so that logs never contain a whole key. */
    @Override
    public String toString() {
        return shortened();
    }

    /** HTTP's optional white space: spaces and tabs only. */
    private static String trimmed(String line) {
        int start = 0;
        int end = line.length();
        while (start < end && isOptionalWhiteSpace(line.charAt(start))) {
            start++;
        }
        while (start < end && isOptionalWhiteSpace(line.charAt(end - 1))) {
            end--;
        }
        return line.substring(start, end);
    }

    private static boolean isOptionalWhiteSpace(char c) {
        return c == ' ' || c == '\t';
    }

    private static SemelException invalid(String text, String rule) {
        SemelException problem = new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_INVALID,
                "The Idempotency-Key is not valid: " + rule + ". Nothing was started or changed.",
                FIX);
        // Echoed only if it cannot break a header, a log line or an HTML page.
        boolean safe = !text.isEmpty() && text.length() <= MAX_LENGTH && IdempotencyKeyAlphabet.firstOutside(text) < 0;
        return safe ? problem.with("idempotency_key", text) : problem;
    }
}
