package dev.semel.workflow;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A name for one intended action, made of what defines it. Two lists of parts never make the same key: parts are joined
 * by a colon, and what is not a plain visible character in a part is written as {@code %XX}, as {@code key(…)} does in
 * workflow files. So the same deed has the same key wherever it is written down.
 */
public record Key(String text) {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    public Key {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the key is empty");
        }
    }

    /** One part is the key itself, as a caller would send it in a header; several are joined. */
    public static Key of(@Nullable Object... parts) {
        return parts.length == 1 ? new Key(textOf(parts[0], 1)) : joined(parts);
    }

    /** Joined, each part escaped, also where there is only one. */
    static Key joined(@Nullable Object... parts) {
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

    /** An empty part is refused, since every action without that id would share one key. */
    private static String textOf(@Nullable Object part, int number) {
        String text = switch (part) {
            case null -> throw new IllegalArgumentException("part " + number + " of the key is null");
            case Key key -> key.text();
            case Enum<?> constant -> constant.name();
            default -> part.toString();
        };
        if (text.isBlank()) {
            throw new IllegalArgumentException("part " + number + " of the key is empty");
        }
        if (text.equals(part.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(part)))) {
            throw new IllegalArgumentException("part " + number + " of the key is a "
                    + part.getClass().getSimpleName() + ", whose text is another one in every process");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("part " + number + " of the key is not Unicode text");
        }
        return text;
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
