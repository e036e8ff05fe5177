package dev.semel.server.operations.incident;

/** Escapes stored text, so that it cannot become a link, image, tag, table cell or new line. */
final class MarkdownEscaper {
    /** Characters with a meaning in some Markdown dialect. */
    private static final String SPECIAL = "\\`*[]|#!~";

    private MarkdownEscaper() {}

    /** Escapes the text to one line of plain text. */
    static String escape(String raw) {
        String line = oneLine(raw);
        StringBuilder out = new StringBuilder(line.length() + 16);
        for (int at = 0; at < line.length(); at++) {
            char c = line.charAt(at);
            switch (c) {
                // Entities: not every dialect supports a backslash before these.
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '&' -> out.append("&amp;");
                default -> {
                    if (SPECIAL.indexOf(c) >= 0 || c == '_' && !isInside(line, at) || isMark(line, at)) {
                        out.append('\\');
                    }
                    out.append(c);
                }
            }
        }
        return out.toString();
    }

    /** An underscore inside a word does not emphasise, and users copy run ids as they are. */
    private static boolean isInside(String line, int at) {
        return at > 0 && at + 1 < line.length() && isOfWord(line.charAt(at - 1)) && isOfWord(line.charAt(at + 1));
    }

    private static boolean isOfWord(char c) {
        return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
    }

    /** Whether the character begins a list, a rule or a heading: `-`, `+`, `=`, `1.`, `1)` at the start of a line. */
    private static boolean isMark(String line, int at) {
        char c = line.charAt(at);
        if (at == 0) {
            return c == '-' || c == '+' || c == '=';
        }
        return (c == '.' || c == ')') && line.chars().limit(at).allMatch(before -> before >= '0' && before <= '9');
    }

    private static String oneLine(String raw) {
        StringBuilder out = new StringBuilder(raw.length());
        raw.codePoints()
                .map(c -> Character.isWhitespace(c) || Character.isSpaceChar(c) ? ' ' : c)
                .filter(c -> !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT)
                .forEach(out::appendCodePoint);
        return out.toString().replaceAll(" +", " ").strip();
    }

    /** Escapes only HTML tags in Markdown that a user wrote. A `<` that begins no tag stays, as in `a < b`. */
    static String escapeHtml(String markdown) {
        return markdown.strip().replaceAll("<(?=[A-Za-z/!?])", "&lt;");
    }
}
