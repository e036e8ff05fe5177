package dev.semel.trials.architecture;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The comments and string literals of a Java file. Every other character is blanked, so that lines and columns stay the
 * same. Literals that are joined with {@code +} read as one text.
 */
final class JavaProse {
    private static final Pattern TOKEN = Pattern.compile(
            "//[^\\n]*+|/\\*.*?\\*/|\"\"\".*?(?<!\\\\)\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\\n]|\\\\.)*+'",
            Pattern.DOTALL);

    /** Marks the start of a comment's line, an escape, or the quotes around a text. */
    private static final Pattern MARKUP = Pattern.compile("(?m)^\\s*(?:\\*|//)+|^/\\*+|\\\\[nt\"]|\\*/$|\"+");

    private static final Pattern JOIN = Pattern.compile("\\s*\\+\\s*");

    static String of(String java) {
        StringBuilder prose = new StringBuilder();
        Matcher token = TOKEN.matcher(java);
        int end = 0;
        while (token.find()) {
            String code = java.substring(end, token.start());
            prose.append(JOIN.matcher(code).matches() || code.isBlank() ? blank(code, ' ') : blank(code, ';'));
            boolean character = token.group().startsWith("'");
            prose.append(
                    character
                            ? blank(token.group(), ';')
                            : MARKUP.matcher(token.group()).replaceAll(markup -> blank(markup.group(), ' ')));
            end = token.end();
        }
        return prose.append(blank(java.substring(end), ';')).toString();
    }

    /** Replaces every character except line breaks. */
    private static String blank(String text, char by) {
        StringBuilder blank = new StringBuilder();
        text.chars().forEach(c -> blank.append(c == '\n' ? '\n' : by));
        return blank.toString();
    }

    private JavaProse() {}
}
