package dev.semel.server.language;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The items of a list that is written with dashes, as pieces of text: from the comments above an item, which stand as far
 * to the right as its dash, to its last line. What lies between two pieces, such as an empty line, stays where it is.
 */
final class YamlItems {
    private final YamlText yaml;
    private final List<String> path;
    private final List<Piece> pieces = new ArrayList<>();

    /** @param column of the dash */
    private record Piece(int start, int end, int column) {}

    private YamlItems(YamlText yaml, List<String> path) {
        this.yaml = yaml;
        this.path = path;
    }

    static YamlItems of(YamlText yaml, List<String> path) {
        if (!(yaml.find(path) instanceof Tree.Items list)) {
            throw YamlEdit.refused(path, "it is no list");
        }
        if (yaml.isFlow(list)) {
            throw YamlEdit.refused(path, "the list is written with brackets, not with dashes");
        }
        YamlItems items = new YamlItems(yaml, path);
        list.items().forEach(item -> items.pieces.add(items.piece(item)));
        return items;
    }

    private Piece piece(Tree item) {
        int dash = yaml.start(item) - 1;
        while (dash >= 0 && Character.isWhitespace(yaml.text().charAt(dash))) {
            dash--;
        }
        if (dash < 0 || yaml.text().charAt(dash) != '-' || !yaml.blank(yaml.lineStart(dash), dash)) {
            throw YamlEdit.refused(path, "the dash of an item does not stand on a line of its own");
        }
        int column = yaml.column(dash);
        int start = yaml.lineStart(dash);
        int above = yaml.lineEndAbove(start);
        while (above >= 0 && comment(yaml.lineStart(above)) == column) {
            start = yaml.lineStart(above);
            above = yaml.lineEndAbove(start);
        }
        int end = yaml.lineEnd(yaml.end(item));
        int below = yaml.behindBreak(end);
        while (below > end && below < yaml.text().length() && comment(below) > column) {
            end = yaml.lineEnd(below);
            below = yaml.behindBreak(end);
        }
        return new Piece(start, end, column);
    }

    /** How far to the right the comment begins that is all of this line; -1 where the line is something else. */
    private int comment(int lineStart) {
        String line = yaml.lineAt(lineStart);
        return line.strip().startsWith("#") ? line.indexOf('#') : -1;
    }

    private Piece at(int index) {
        if (index < 0 || index >= pieces.size()) {
            throw YamlEdit.refused(path, "there is no item at that place");
        }
        return pieces.get(index);
    }

    String swap(int index) {
        Piece one = at(index);
        Piece other = at(index + 1);
        String text = yaml.text();
        return yaml.replaced(
                one.start(),
                other.end(),
                text.substring(other.start(), other.end())
                        + text.substring(one.end(), other.start())
                        + text.substring(one.start(), one.end()));
    }

    String remove(int index) {
        Piece one = at(index);
        if (pieces.size() == 1) {
            throw YamlEdit.refused(path, "it is the only item, and a list of steps needs one");
        }
        int from = index == 0 ? one.end() : at(index - 1).end();
        int to = index == 0 ? at(1).start() : one.start();
        if (!yaml.blank(from, to)) {
            // A comment stands between, and belongs to neither: only the lines of the item go.
            return yaml.replaced(one.start(), yaml.behindBreak(one.end()), "");
        }
        // With what lies between: where there was an empty line between any two, there is one still.
        return index == 0 ? yaml.replaced(one.start(), to, "") : yaml.replaced(from, one.end(), "");
    }

    String insertAfter(int index, String item) {
        Piece one = at(index);
        String newline = yaml.newline();
        String indent = " ".repeat(one.column());
        String lines = item.lines().map(line -> indent + line).collect(Collectors.joining(newline));
        return yaml.replaced(one.end(), one.end(), newline + (airy(index) ? newline : "") + lines);
    }

    /** Whether the items beside it stand apart. */
    private boolean airy(int index) {
        int first = index > 0 ? index - 1 : index;
        if (first + 1 >= pieces.size()) {
            return false;
        }
        int end = at(first).end();
        return yaml.behindBreak(yaml.behindBreak(end)) <= at(first + 1).start()
                && yaml.lineAt(yaml.behindBreak(end)).isBlank();
    }
}
