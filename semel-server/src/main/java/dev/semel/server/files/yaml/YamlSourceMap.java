package dev.semel.server.files.yaml;

import dev.semel.error.SemelException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The parser reports only the start of a list or map. Its end is that of its last value, or the bracket after it. */
final class YamlSourceMap {
    private final String text;
    private final YamlSourceText source;
    private final YamlNode root;
    private final boolean wide;

    private YamlSourceMap(String text, YamlSourceText source, YamlNode root) {
        this.text = text;
        this.source = source;
        this.root = root;
        this.wide = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
    }

    /** @throws SemelException if the text is not valid YAML, with the position */
    static YamlSourceMap of(String text) {
        YamlSourceText source = new YamlSourceText(text);
        YamlFileErrorCollector problems = new YamlFileErrorCollector(source);
        YamlNode tree = YamlReader.read(text, source, problems);
        problems.throwIfAny();
        return new YamlSourceMap(text, source, Objects.requireNonNull(tree));
    }

    String text() {
        return text;
    }

    YamlSourceText source() {
        return source;
    }

    YamlNode root() {
        return root;
    }

    /** The node at a path of names and indexes; null if there is none. */
    @Nullable
    YamlNode find(List<String> path) {
        YamlNode at = root;
        for (String name : path) {
            at = at == null ? null : child(at, name);
        }
        return at;
    }

    static @Nullable YamlNode child(YamlNode tree, String name) {
        return switch (tree) {
            case YamlNode.ScalarNode _ -> null;
            case YamlNode.MapNode members -> members.get(name);
            case YamlNode.ListNode items ->
                name.matches("[0-9]{1,5}")
                                && Integer.parseInt(name) < items.items().size()
                        ? items.items().get(Integer.parseInt(name))
                        : null;
        };
    }

    int start(YamlNode tree) {
        return charOffset(tree.range().start());
    }

    int charOffset(int codePoint) {
        if (!wide) {
            return Math.min(codePoint, text.length()); // every code point is one char
        }
        return text.offsetByCodePoints(0, Math.min(codePoint, text.codePointCount(0, text.length())));
    }

    /** Whether a list or map is written in brackets. */
    boolean isFlow(YamlNode tree) {
        int start = start(tree);
        return !(tree instanceof YamlNode.ScalarNode)
                && start < text.length()
                && (text.charAt(start) == '{' || text.charAt(start) == '[');
    }

    /** The offset after the last character of a value. */
    int end(YamlNode tree) {
        return switch (tree) {
            case YamlNode.ScalarNode scalar -> end(scalar);
            case YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items) ->
                end(tree, items.isEmpty() ? null : items.getLast());
            case YamlNode.MapNode members -> end(tree, last(members));
        };
    }

    private static @Nullable YamlNode last(YamlNode.MapNode members) {
        YamlNode last = null;
        for (YamlNode.MapEntry member : members.members().values()) {
            last = member.value();
        }
        return last;
    }

    /** The parser counts empty lines after a block scalar as part of it; here they belong to what follows. */
    private int end(YamlNode.ScalarNode scalar) {
        int start = start(scalar);
        int end = charOffset(scalar.range().end());
        while (end > start && Character.isWhitespace(text.charAt(end - 1))) {
            end--;
        }
        return end;
    }

    private int end(YamlNode collection, @Nullable YamlNode last) {
        int behind = last == null ? start(collection) + 1 : end(last);
        if (!isFlow(collection)) {
            return behind;
        }
        char bracket = text.charAt(start(collection)) == '{' ? '}' : ']';
        while (behind < text.length() && text.charAt(behind) != bracket) {
            behind = text.charAt(behind) == '#' ? lineEnd(behind) : behind + 1;
        }
        return Math.min(text.length(), behind + 1);
    }

    int lineStart(int at) {
        int start = at;
        while (start > 0 && !isBreak(text.charAt(start - 1))) {
            start--;
        }
        return start;
    }

    /** The offset of the line break, or the end of the text. */
    int lineEnd(int at) {
        int end = at;
        while (end < text.length() && !isBreak(text.charAt(end))) {
            end++;
        }
        return end;
    }

    /** The offset after the line break. */
    int afterBreak(int lineEnd) {
        return lineEnd >= text.length() ? lineEnd : lineEnd + (text.startsWith("\r\n", lineEnd) ? 2 : 1);
    }

    /** The end of the previous line; -1 if there is none. */
    int lineEndAbove(int lineStart) {
        if (lineStart == 0) {
            return -1;
        }
        return lineStart - (lineStart > 1 && text.startsWith("\r\n", lineStart - 2) ? 2 : 1);
    }

    private static boolean isBreak(char c) {
        return c == '\n' || c == '\r';
    }

    /** The distance of an offset from the start of its line. */
    int column(int at) {
        return at - lineStart(at);
    }

    boolean isBlank(int from, int to) {
        return text.substring(from, to).isBlank();
    }

    String between(int from, int to) {
        return text.substring(from, to);
    }

    String lineAt(int lineStart) {
        return text.substring(lineStart, lineEnd(lineStart));
    }

    String newline() {
        int end = lineEnd(0);
        return end >= text.length() ? "\n" : text.substring(end, afterBreak(end));
    }

    String replace(int from, int to, String by) {
        return text.substring(0, from) + by + text.substring(to);
    }
}
