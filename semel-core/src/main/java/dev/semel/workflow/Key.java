package dev.semel.workflow;

import dev.semel.idempotency.CanonicalJsonWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An idempotency key, built from the parts that identify one intended action.
 * Different lists of parts never give the same key: Semel joins the parts with colons and escapes other than plain
 * visible characters as {@code %XX}. Equal numbers give one key: {@code 100}, {@code 100.0} and {@code 1e2} are
 * {@code 100}. {@code key(…)} in YAML workflows gives the same keys.
 */
public record Key(String text) {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    public Key {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the key is empty");
        }
    }

    /** A single part is the key itself, as in the Idempotency-Key header; several parts are escaped and joined. */
    public static Key of(@Nullable Object... parts) {
        return parts.length == 1 ? new Key(textOf(parts[0], 1)) : joinEscaped(parts);
    }

    /** Escapes and joins the parts, also a single one. */
    static Key joinEscaped(@Nullable Object... parts) {
        if (parts.length == 0) {
            throw new IllegalArgumentException("the key has no parts");
        }
        StringBuilder key = new StringBuilder();
        for (int i = 0; i < parts.length; i++) {
            key.append(i == 0 ? "" : ":");
            escape(textOf(parts[i], i + 1), key);
        }
        return new Key(key.toString());
    }

    /** Rejects an empty part, because all actions without that id would share one key. */
    private static String textOf(@Nullable Object part, int number) {
        String text = switch (part) {
            case null -> throw new IllegalArgumentException("part " + number + " of the key is null");
            case Key key -> key.text();
            case Enum<?> constant -> constant.name();
            case Number value -> textOf(value, number);
            case JsonNode json when json.isNumber() -> CanonicalJsonWriter.text(json);
            default -> part.toString();
        };
        if (text.isBlank()) {
            throw new IllegalArgumentException("part " + number + " of the key is empty");
        }
        if (text.equals(part.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(part)))) {
            throw new IllegalArgumentException("part " + number + " of the key is a "
                    + part.getClass().getSimpleName() + ", whose toString() differs in every process");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("part " + number + " of the key is not Unicode text");
        }
        return text;
    }

    /** The canonical text of the fingerprint. A type of number whose text is not decimal keeps its own text. */
    private static String textOf(Number value, int part) {
        String text = value.toString();
        try {
            return CanonicalJsonWriter.numberText(new BigDecimal(text));
        } catch (NumberFormatException e) {
            if (value instanceof Double || value instanceof Float) {
                throw new IllegalArgumentException("part " + part + " of the key is infinite or not a number");
            }
            return text;
        }
    }

    private static void escape(String part, StringBuilder key) {
        for (byte b : part.getBytes(StandardCharsets.UTF_8)) {
            if (b > ' ' && b < 0x7F && b != '%' && b != ':' && b != '"') {
                key.append((char) b);
            } else {
                key.append('%').append(HEX.toHexDigits(b));
            }
        }
    }
}
