package dev.semel.json;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/**
 * Errors have position and rule, never a value. Everything that was parsed can be written, and vice versa. The caller
 * limits the size of a document; the limits here bound the cost of a small one.
 */
public final class StrictJsonCodec {
    /** Nesting depth of arrays and objects. */
    public static final int MAX_DEPTH = 100;

    /** Length of one number in characters. */
    public static final int MAX_NUMBER = 1_000;

    /** Largest exponent, far below the limit of BigDecimal. */
    public static final int MAX_SCALE = 2_000_000_000;

    /** Length of one member name in characters. */
    public static final int MAX_NAME = 10_000;

    /** Length of one string in characters. */
    public static final int MAX_STRING = 16 * 1024 * 1024;

    /** Values in one document, including containers. Documents up to 1 MiB never reach it. */
    public static final int MAX_VALUES = 1_000_000;

    private static final char BYTE_ORDER_MARK = '\uFEFF';
    private static final char REPLACEMENT = '\uFFFD';

    private StrictJsonCodec() {}

    /** Parses one document in UTF-8 without a byte order mark. */
    public static JsonNode parse(byte[] utf8) {
        String text = new String(utf8, StandardCharsets.UTF_8);
        // Decoding replaces broken bytes by U+FFFD; only then a second check is needed.
        if (text.indexOf(REPLACEMENT) >= 0) {
            rejectBrokenUtf8(utf8);
        }
        return parseWellFormed(text);
    }

    public static JsonNode parse(String text) {
        int lone = UnpairedSurrogateDetector.firstLone(text);
        if (lone >= 0) {
            throw InvalidJsonErrorFactory.at(text, lone, "an unpaired surrogate, so this is not Unicode text");
        }
        return parseWellFormed(text);
    }

    /** The compact text of a value; numbers keep every digit. */
    public static String write(JsonNode value) {
        return new String(bytes(value), StandardCharsets.UTF_8);
    }

    public static byte[] bytes(JsonNode value) {
        JsonOutputBuffer out = new JsonOutputBuffer();
        JsonWriter.write(value, out);
        return out.toBytes();
    }

    private static JsonNode parseWellFormed(String text) {
        if (!text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK) {
            throw InvalidJsonErrorFactory.at(text, 0, "a byte order mark is not part of JSON");
        }
        if (text.length() > 1 && (text.charAt(0) == 0 || text.charAt(1) == 0)) {
            throw InvalidJsonErrorFactory.at(
                    text, 0, "a NUL at the start; this looks like UTF-16 or UTF-32, and only UTF-8 is supported");
        }
        return JsonReader.read(text);
    }

    private static void rejectBrokenUtf8(byte[] utf8) {
        ByteBuffer in = ByteBuffer.wrap(utf8);
        CharBuffer out = CharBuffer.allocate(utf8.length);
        if (StandardCharsets.UTF_8.newDecoder().decode(in, out, true).isError()) {
            String before = out.flip().toString();
            throw InvalidJsonErrorFactory.at(before, before.length(), "bytes that are not UTF-8 start here");
        }
    }
}
