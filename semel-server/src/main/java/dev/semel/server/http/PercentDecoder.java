package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Decodes once and strictly: with a lenient decoder a second spelling of a path could bypass access rules. */
final class PercentDecoder {
    private PercentDecoder() {}

    /** Decodes one path segment. An encoded slash does not split it. */
    static String decodePathSegment(String raw) {
        String text = raw.indexOf('%') < 0 ? raw : decode(raw, false);
        if (raw.indexOf(';') >= 0 || text.equals(".") || text.equals("..")) {
            throw malformed("The path has a segment with parameters or a dot segment.");
        }
        return printable(text, "path");
    }

    /** Decodes one name or value of a query. A plus sign is a space. */
    static String decodeQueryPart(String raw) {
        String text = raw.indexOf('%') < 0 && raw.indexOf('+') < 0 ? raw : decode(raw, true);
        return printable(text, "query");
    }

    static SemelException malformed(String detail) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                detail + " Nothing was done.",
                "Percent-encode each part of the URL once, as UTF-8.");
    }

    private static String decode(String raw, boolean plusIsSpace) {
        byte[] bytes = new byte[raw.length()];
        int length = 0;
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                int high = i + 3 <= raw.length() ? Character.digit(raw.charAt(i + 1), 16) : -1;
                int low = i + 3 <= raw.length() ? Character.digit(raw.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw malformed("The URL has a percent sign that is not followed by two hex digits.");
                }
                bytes[length++] = (byte) (high << 4 | low);
                i += 2;
            } else {
                bytes[length++] = (byte) (plusIsSpace && c == '+' ? ' ' : c);
            }
        }
        try {
            CharBuffer chars = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length));
            return chars.toString();
        } catch (CharacterCodingException e) {
            throw malformed("The address has percent-encoded bytes that are not UTF-8.");
        }
    }

    private static String printable(String text, String where) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                throw malformed("The " + where + " has an encoded control character.");
            }
        }
        return text;
    }
}
