package dev.semel.server.settings;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text in which the escapes of URLs, HTML and JSON are decoded, in any mixture, with the position of each character
 * in the original.
 *
 * @param starts where each decoded character begins in the original; one more entry for the end
 */
record EscapedTextDecoder(String text, int[] starts) {
    private static final Map<String, String> NAMED = Map.of(
            "&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", "\"", "&apos;", "'", "&sol;", "/", "\\n", "\n", "\\r",
            "\r", "\\t", "\t");

    private static final Pattern ESCAPE = Pattern.compile("(?:%[0-9a-fA-F]{2})+|&#0*(?<decimal>[0-9]{1,7});"
            + "|&#[xX]0*(?<hex>[0-9a-fA-F]{1,6});|\\\\u(?<unit>[0-9a-fA-F]{4})|&(?:amp|lt|gt|quot|apos|sol);"
            + "|\\\\[nrt]|\\\\(?<quoted>[\"\\\\/])|\\+");

    static EscapedTextDecoder of(String text) {
        int[] starts = new int[text.length() + 1];
        Arrays.setAll(starts, i -> i);
        return new EscapedTextDecoder(text, starts);
    }

    /** @param plusIsSpace as in the body and the query of a form; otherwise a plus stays */
    EscapedTextDecoder decode(boolean plusIsSpace) {
        StringBuilder out = new StringBuilder(text.length());
        int[] from = new int[text.length() + 1];
        Matcher escape = ESCAPE.matcher(text);
        int at = 0;
        while (escape.find()) {
            for (; at < escape.start(); at++) {
                from[out.length()] = starts[at];
                out.append(text.charAt(at));
            }
            if (escape.group().startsWith("%")) {
                decodePercent(escape.group(), at, out, from);
            } else {
                for (char unit : value(escape, plusIsSpace).toCharArray()) {
                    from[out.length()] = starts[at];
                    out.append(unit);
                }
            }
            at = escape.end();
        }
        for (; at < text.length(); at++) {
            from[out.length()] = starts[at];
            out.append(text.charAt(at));
        }
        from[out.length()] = starts[text.length()];
        return new EscapedTextDecoder(out.toString(), Arrays.copyOf(from, out.length() + 1));
    }

    private static String value(Matcher escape, boolean plusIsSpace) {
        if (escape.group("decimal") != null) {
            return character(Integer.parseInt(escape.group("decimal")));
        }
        if (escape.group("hex") != null) {
            return character(Integer.parseInt(escape.group("hex"), 16));
        }
        if (escape.group("unit") != null) {
            return String.valueOf((char) Integer.parseInt(escape.group("unit"), 16));
        }
        if (escape.group("quoted") != null) {
            return escape.group("quoted");
        }
        return NAMED.getOrDefault(escape.group(), plusIsSpace ? " " : "+");
    }

    private static String character(int point) {
        return Character.isValidCodePoint(point) ? Character.toString(point) : "\uFFFD";
    }

    /** Bytes that are not UTF-8 become replacement characters, which no secret contains. */
    private void decodePercent(String run, int at, StringBuilder out, int[] from) {
        byte[] bytes = new byte[run.length() / 3];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(run, i * 3 + 1, i * 3 + 3, 16);
        }
        for (int i = 0; i < bytes.length; ) {
            int length = Math.min(bytes.length - i, lengthOf(bytes[i]));
            for (char unit : new String(bytes, i, length, StandardCharsets.UTF_8).toCharArray()) {
                from[out.length()] = starts[at + i * 3];
                out.append(unit);
            }
            i += length;
        }
    }

    private static int lengthOf(byte lead) {
        int bits = lead & 0xff;
        return bits < 0xc0 ? 1 : bits < 0xe0 ? 2 : bits < 0xf0 ? 3 : 4;
    }
}
