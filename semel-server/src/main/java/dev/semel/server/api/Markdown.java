package dev.semel.server.api;

/**
 * Texts of others inside Markdown that people hand on: names, codes and titles stand there as they were written, and do
 * nothing. A name cannot become a link, a picture, a tag, another cell or another line.
 */
final class Markdown {
    /** Each of them means something in some place of some dialect. */
    private static final String SPECIAL = "\\`*[]|#!~";

    private Markdown() {}

    /** One line, in which nothing but the words takes effect, wherever it stands. */
    static String text(String raw) {
        String line = oneLine(raw);
        StringBuilder out = new StringBuilder(line.length() + 16);
        for (int at = 0; at < line.length(); at++) {
            char c = line.charAt(at);
            switch (c) {
                // As entities, which every dialect knows; a backslash in front of these is not one everywhere.
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

    /** Marks inside a word do not emphasise, and ids of runs are to be copied as they are. */
    private static boolean isInside(String line, int at) {
        return at > 0 && at + 1 < line.length() && isOfWord(line.charAt(at - 1)) && isOfWord(line.charAt(at + 1));
    }

    private static boolean isOfWord(char c) {
        return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
    }

    /** What begins a list, a rule or a heading, where it is the first of its line: `-`, `+`, `=`, `1.`, `1)`. */
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

    /**
     * What somebody wrote as Markdown, and means so, but for tags: those are shown instead of done. A sign that begins none
     * stays, as in `a < b`.
     */
    static String withoutHtml(String markdown) {
        return markdown.strip().replaceAll("<(?=[A-Za-z/!?])", "&lt;");
    }
}
