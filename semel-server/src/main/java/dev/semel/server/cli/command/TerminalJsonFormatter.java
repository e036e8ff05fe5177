package dev.semel.server.cli.command;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** JSON of the command line: parses without rounding numbers, and prints text that is safe on a terminal. */
public final class TerminalJsonFormatter {
    /** Numbers keep their digits: 9007199254740993 and 1.10 are not rounded. */
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private TerminalJsonFormatter() {}

    public static JsonNode parse(String text) throws JacksonException {
        return MAPPER.readTree(text);
    }

    public static ObjectNode newObject() {
        return MAPPER.createObjectNode();
    }

    public static String compact(JsonNode node) {
        return terminalSafe(compactForRequest(node));
    }

    /** For requests, never for printing: exactly what the user typed. */
    public static String compactForRequest(JsonNode node) {
        return MAPPER.writer().without(SerializationFeature.INDENT_OUTPUT).writeValueAsString(node);
    }

    public static String pretty(JsonNode node) {
        return terminalSafe(MAPPER.writeValueAsString(node));
    }

    /** The member as one line of printable text; empty if it is absent, null or not a scalar. */
    public static String text(JsonNode node, String member) {
        JsonNode value = node.path(member);
        return value.isValueNode() && !value.isNull() ? sanitize(value.asString()) : "";
    }

    /** The texts of an array, each as one line of printable text. */
    public static Stream<String> texts(JsonNode array) {
        return array.valueStream().map(text -> sanitize(text.asString("")));
    }

    /** Puts a member, unless its text is empty. */
    public static void putText(ObjectNode object, String member, String text) {
        if (!text.isEmpty()) {
            object.put(member, text);
        }
    }

    public static @Nullable Instant instant(JsonNode node, String member) {
        try {
            String text = text(node, member);
            return text.isEmpty() ? null : Instant.parse(text);
        } catch (DateTimeParseException notATime) {
            return null;
        }
    }

    /**
     * Makes foreign text safe to print: removes control characters (an escape sequence could rewrite the screen or the
     * clipboard) and direction overrides (they change the reading order). One line stays one line.
     */
    public static String sanitize(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            if (point == '\n' || point == '\r' || point == '\t') {
                clean.append(' ');
            } else if (!harmful(point)) {
                clean.appendCodePoint(point);
            }
        });
        return clean.toString();
    }

    /** These characters occur only inside JSON strings, so an escape has the same meaning. */
    private static String terminalSafe(String document) {
        StringBuilder safe = new StringBuilder(document.length());
        document.chars().forEach(unit -> {
            if (unit != '\n' && harmful(unit)) {
                safe.append(String.format("\\u%04x", unit));
            } else {
                safe.append((char) unit);
            }
        });
        return safe.toString();
    }

    private static boolean harmful(int point) {
        return point < 0x20
                || (point >= 0x7f && point <= 0x9f)
                || (point >= 0x200e && point <= 0x200f)
                || (point >= 0x2028 && point <= 0x202e)
                || (point >= 0x2066 && point <= 0x2069);
    }
}
