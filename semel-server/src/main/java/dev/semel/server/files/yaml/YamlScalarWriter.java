package dev.semel.server.files.yaml;

import dev.semel.json.StrictJsonCodec;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Lists spellings of a value, the plainest first; the caller picks the first that reads back as the value. */
final class YamlScalarWriter {
    private YamlScalarWriter() {}

    enum QuotingStyle {
        PLAIN,
        SINGLE,
        DOUBLE,
        BLOCK;

        static QuotingStyle of(String written) {
            return switch (written.isEmpty() ? ' ' : written.charAt(0)) {
                case '\'' -> SINGLE;
                case '"' -> DOUBLE;
                case '|', '>' -> BLOCK;
                default -> PLAIN;
            };
        }
    }

    /** @param before existing quotes are kept */
    static List<String> candidates(JsonNode value, QuotingStyle before) {
        if (!value.isString()) {
            return List.of(StrictJsonCodec.write(value));
        }
        String text = value.stringValue();
        List<String> ways = new ArrayList<>();
        boolean oneLine = text.chars().noneMatch(Character::isISOControl);
        if (oneLine && !text.isEmpty() && (before == QuotingStyle.PLAIN || before == QuotingStyle.BLOCK)) {
            ways.add(text);
        }
        if (oneLine && before != QuotingStyle.DOUBLE) {
            ways.add("'" + text.replace("'", "''") + "'");
        }
        ways.add(quoted(text));
        return ways;
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        text.codePoints().forEach(point -> {
            switch (point) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (Character.isISOControl(point) || point == 0xFEFF || point == 0x2028 || point == 0x2029) {
                        out.append("\\u%04x".formatted(point));
                    } else {
                        out.appendCodePoint(point);
                    }
                }
            }
        });
        return out.append('"').toString();
    }
}
