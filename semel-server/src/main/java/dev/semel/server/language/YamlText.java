package dev.semel.server.language;

import dev.semel.error.SemelException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A parsed workflow file with the char offsets where its values begin and end.
 *
 * <p>The parser reports only the start of a list or map. Its end is that of its last value, or the bracket after it.
 */
final class YamlText {
    private final String text;
    private final Tree root;
    private final boolean wide;

    private YamlText(String text, Tree root) {
        this.text = text;
        this.root = root;
        this.wide = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
    }

    /** @throws SemelException if the text is not valid YAML, with the position */
    static YamlText of(String text) {
        Source source = new Source(text);
        Problems problems = new Problems(source);
        Tree tree = YamlReader.read(text, source, problems);
        problems.throwIfAny();
        return new YamlText(text, Objects.requireNonNull(tree));
    }

    String text() {
        return text;
    }

    Tree root() {
        return root;
    }

    /** The node at a path of names and indexes; null if there is none. */
    @Nullable
    Tree find(List<String> path) {
        Tree at = root;
        for (String name : path) {
            at = at == null ? null : child(at, name);
        }
        return at;
    }

    static @Nullable Tree child(Tree tree, String name) {
        return switch (tree) {
            case Tree.Scalar _ -> null;
            case Tree.Members members -> members.get(name);
            case Tree.Items items ->
                name.matches("[0-9]{1,5}")
                                && Integer.parseInt(name) < items.items().size()
                        ? items.items().get(Integer.parseInt(name))
                        : null;
        };
    }

    int start(Tree tree) {
        return place(tree.spot().start());
    }

    /** The char offset of a code point. */
    int place(int codePoint) {
        if (!wide) {
            return Math.min(codePoint, text.length()); // every code point is one char
        }
        return text.offsetByCodePoints(0, Math.min(codePoint, text.codePointCount(0, text.length())));
    }

    /** Whether a list or map is written in brackets. */
    boolean isFlow(Tree tree) {
        int start = start(tree);
        return !(tree instanceof Tree.Scalar)
                && start < text.length()
                && (text.charAt(start) == '{' || text.charAt(start) == '[');
    }

    /** The offset after the last character of a value. */
    int end(Tree tree) {
        return switch (tree) {
            case Tree.Scalar scalar -> end(scalar);
            case Tree.Items(Spot _, List<Tree> items) -> end(tree, items.isEmpty() ? null : items.getLast());
            case Tree.Members members -> end(tree, last(members));
        };
    }

    private static @Nullable Tree last(Tree.Members members) {
        Tree last = null;
        for (Tree.Member member : members.members().values()) {
            last = member.value();
        }
        return last;
    }

    /** The parser counts empty lines after a block scalar as part of it; here they belong to what follows. */
    private int end(Tree.Scalar scalar) {
        int start = start(scalar);
        int end = place(scalar.spot().end());
        while (end > start && Character.isWhitespace(text.charAt(end - 1))) {
            end--;
        }
        return end;
    }

    private int end(Tree collection, @Nullable Tree last) {
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

    /** The offset of the start of the line. */
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
    int behindBreak(int lineEnd) {
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

    boolean blank(int from, int to) {
        return text.substring(from, to).isBlank();
    }

    String between(int from, int to) {
        return text.substring(from, to);
    }

    String lineAt(int lineStart) {
        return text.substring(lineStart, lineEnd(lineStart));
    }

    /** The line ending of this file. */
    String newline() {
        int end = lineEnd(0);
        return end >= text.length() ? "\n" : text.substring(end, behindBreak(end));
    }

    String replaced(int from, int to, String by) {
        return text.substring(0, from) + by + text.substring(to);
    }
}
