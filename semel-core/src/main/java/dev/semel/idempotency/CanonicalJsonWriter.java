package dev.semel.idempotency;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.JsonNumberToDecimalConverter;
import dev.semel.json.JsonOutputBuffer;
import dev.semel.json.StrictJsonCodec;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Writes JSON values in canonical form: RFC 8785 with lossless numbers. No digit is rounded away: 1, 1.0 and 10e-1 are
 * equal, 9007199254740993 and 9007199254740992 are not, and 1e400 is a valid number.
 *
 * <p>A missing value is written as {@code undefined}, which no document can contain, so it differs from null.
 */
public final class CanonicalJsonWriter {
    private CanonicalJsonWriter() {}

    public static byte[] bytes(JsonNode value) {
        JsonOutputBuffer out = new JsonOutputBuffer();
        write(value, out, 1);
        return out.toBytes();
    }

    public static String text(JsonNode value) {
        return new String(bytes(value), StandardCharsets.UTF_8);
    }

    /** The canonical text of a number, as in a fingerprint. Keys contain numbers in this form. */
    public static String numberText(BigDecimal number) {
        JsonOutputBuffer out = new JsonOutputBuffer();
        decimal(number, out);
        return new String(out.toBytes(), StandardCharsets.US_ASCII);
    }

    /** Members in canonical order: by the UTF-16 code units of their names. */
    static List<Map.Entry<String, JsonNode>> sortedMembers(JsonNode object) {
        @SuppressWarnings({"unchecked", "rawtypes"})
        Map.Entry<String, JsonNode>[] members = object.properties().toArray(new Map.Entry[0]);
        Arrays.sort(members, Map.Entry.comparingByKey());
        return Arrays.asList(members);
    }

    /** @param depth number of containers around the value, plus one */
    static void write(JsonNode value, JsonOutputBuffer out, int depth) {
        if (depth > StrictJsonCodec.MAX_DEPTH && value.isContainer()) {
            throw unfit("it is nested deeper than " + StrictJsonCodec.MAX_DEPTH + " levels");
        }
        switch (value.getNodeType()) {
            case OBJECT -> object(value, out, depth);
            case ARRAY -> array(value, out, depth);
            case STRING, BINARY -> out.appendString(value.asString());
            case NUMBER -> number(value, out);
            case BOOLEAN -> out.appendAscii(value.booleanValue() ? "true" : "false");
            case NULL -> out.appendAscii("null");
            case MISSING -> out.appendAscii("undefined");
            case POJO -> throw unfit("it contains a Java object");
        }
    }

    private static void object(JsonNode object, JsonOutputBuffer out, int depth) {
        out.append('{');
        boolean first = true;
        for (Map.Entry<String, JsonNode> member : sortedMembers(object)) {
            if (!first) {
                out.append(',');
            }
            first = false;
            out.appendString(member.getKey());
            out.append(':');
            write(member.getValue(), out, depth + 1);
        }
        out.append('}');
    }

    private static void array(JsonNode array, JsonOutputBuffer out, int depth) {
        out.append('[');
        boolean first = true;
        for (JsonNode element : array.values()) {
            if (!first) {
                out.append(',');
            }
            first = false;
            write(element, out, depth + 1);
        }
        out.append(']');
    }

    private static void number(JsonNode number, JsonOutputBuffer out) {
        switch (number.numberType()) {
            case INT, LONG -> out.appendAscii(Long.toString(number.longValue()));
            case BIG_INTEGER, FLOAT, DOUBLE, BIG_DECIMAL -> decimal(JsonNumberToDecimalConverter.exact(number), out);
        }
    }

    /**
     * ECMAScript's Number::toString for given digits. For the shortest digits of a double this is the text of RFC 8785.
     * The exponent is never expanded, so a huge one costs nothing.
     */
    private static void decimal(BigDecimal value, JsonOutputBuffer out) {
        if (value.signum() == 0) {
            out.append('0');
            return;
        }
        if (value.signum() < 0) {
            out.append('-');
        }
        String unscaled = value.unscaledValue().abs().toString();
        int length = unscaled.length();
        while (unscaled.charAt(length - 1) == '0') {
            length--;
        }
        String digits = unscaled.substring(0, length);
        // The value is 0.digits times ten to the power of point.
        long point = (long) unscaled.length() - value.scale();
        if (length <= point && point <= 21) {
            out.appendAscii(digits);
            out.appendAscii("0".repeat((int) point - length));
        } else if (0 < point && point <= 21) {
            out.appendAscii(digits.substring(0, (int) point));
            out.append('.');
            out.appendAscii(digits.substring((int) point));
        } else if (-6 < point && point <= 0) {
            out.appendAscii("0.");
            out.appendAscii("0".repeat((int) -point));
            out.appendAscii(digits);
        } else {
            exponential(digits, point - 1, out);
        }
    }

    private static void exponential(String digits, long exponent, JsonOutputBuffer out) {
        out.append(digits.charAt(0));
        if (digits.length() > 1) {
            out.append('.');
            out.appendAscii(digits.substring(1));
        }
        out.append('e');
        out.append(exponent < 0 ? '-' : '+');
        out.appendAscii(Long.toString(Math.abs(exponent)));
    }

    private static SemelException unfit(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "Semel cannot write a value as canonical JSON: " + rule + ". Nothing was started or changed.",
                "Use only strings, finite numbers, booleans, null, lists and objects within the documented limits.");
    }
}
