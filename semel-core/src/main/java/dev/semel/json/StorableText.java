package dev.semel.json;

import java.nio.charset.StandardCharsets;

/** Decides which texts both stores can hold, and shortens those that an index cannot hold. */
public final class StorableText {
    /**
     * The longest text in an index, in UTF-8 bytes. PostgreSQL rejects index entries above 2,704 bytes, and an entry has
     * up to two such texts.
     */
    public static final int LONGEST_INDEXED = 1_000;

    private static final int LONGEST_PREFIX = 900;
    private static final int MOST_BYTES_PER_CHAR = 3;

    private StorableText() {}

    /** PostgreSQL rejects a NUL character. An unpaired surrogate has no UTF-8 form. */
    public static boolean isStorable(String text) {
        return text.indexOf(0) < 0 && UnpairedSurrogateDetector.firstLone(text) < 0;
    }

    /**
     * Returns a short text unchanged. A longer one is cut and ends with the hash of the whole text, so that different
     * texts stay different.
     */
    public static String shortenForIndex(String text) {
        if (text.length() <= LONGEST_INDEXED / MOST_BYTES_PER_CHAR
                || text.getBytes(StandardCharsets.UTF_8).length <= LONGEST_INDEXED) {
            return text;
        }
        StringBuilder prefix = new StringBuilder();
        int bytes = 0;
        for (int at = 0; at < text.length(); ) {
            int character = text.codePointAt(at);
            bytes += Character.toString(character).getBytes(StandardCharsets.UTF_8).length;
            if (bytes > LONGEST_PREFIX) {
                break;
            }
            prefix.appendCodePoint(character);
            at += Character.charCount(character);
        }
        return prefix.append('…').append(Sha256.hex(text)).toString();
    }
}
