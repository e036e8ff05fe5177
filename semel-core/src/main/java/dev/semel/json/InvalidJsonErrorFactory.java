package dev.semel.json;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Map;

/** Errors name position and rule, never a value or a cause that contains one. */
final class InvalidJsonErrorFactory {
    /** A truncated pointer would point to something else, so a longer one is omitted. */
    private static final int LONGEST_POINTER = 256;

    private static final String FIX = "Correct the document and send it again.";

    private InvalidJsonErrorFactory() {}

    static SemelException at(String text, int offset, String message) {
        return error(place(text, offset), message);
    }

    static SemelException at(String text, int offset, String pointer, String message) {
        if (pointer.isEmpty() || pointer.length() > LONGEST_POINTER) {
            return at(text, offset, message);
        }
        String shown = UntrustedNameLogSanitizer.of(pointer, LONGEST_POINTER);
        return error(place(text, offset) + " (" + shown + ")", message)
                .with("errors", List.of(Map.of("pointer", pointer, "message", message)));
    }

    /** The error for a value that was created by code and therefore has no line. */
    static SemelException unwritable(String message) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "A value cannot be written as JSON: " + message + ". Nothing was stored.",
                "Use only strings, finite numbers, booleans, null, lists and objects within the documented limits.");
    }

    private static SemelException error(String place, String message) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The document is not valid JSON at " + place + ": " + message + ". Nothing was started or changed.",
                FIX);
    }

    private static String place(String text, int offset) {
        int end = Math.min(Math.max(offset, 0), text.length());
        int line = 1;
        int lineStart = 0;
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (c == '\n' || (c == '\r' && !(i + 1 < text.length() && text.charAt(i + 1) == '\n'))) {
                line++;
                lineStart = i + 1;
            }
        }
        return "line " + line + ", column " + (text.codePointCount(lineStart, end) + 1);
    }
}
