package dev.semel.server.files.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Edits the items of a YAML list, as pieces of text.
 *
 * <p>In a list with dashes, an item reaches from the comments above it, indented like its dash, to its last line. Text between two items, such
 * as an empty line, stays in place.
 */
final class YamlListEditor {
    private final YamlSourceMap yaml;
    private final List<String> path;

    /** Written in brackets. */
    private final boolean flow;

    private final List<ItemText> pieces = new ArrayList<>();

    /** @param column of the dash */
    private record ItemText(int start, int end, int column) {}

    private YamlListEditor(YamlSourceMap yaml, List<String> path, boolean flow) {
        this.flow = flow;
        this.yaml = yaml;
        this.path = path;
    }

    static YamlListEditor of(YamlSourceMap yaml, List<String> path) {
        if (!(yaml.find(path) instanceof YamlNode.ListNode list)) {
            throw FormatPreservingYamlEditor.editRejected(path, "it is not a list");
        }
        YamlListEditor items = new YamlListEditor(yaml, path, yaml.isFlow(list));
        list.items().forEach(item -> items.pieces.add(items.flow ? items.bracketPiece(item) : items.piece(item)));
        return items;
    }

    private ItemText bracketPiece(YamlNode item) {
        return new ItemText(yaml.start(item), yaml.end(item), 0);
    }

    /** Without indentation, with a dash. */
    String text(int index) {
        ItemText one = at(index);
        String raw = yaml.text().substring(one.start(), one.end());
        return flow
                ? "- " + raw
                : raw.lines().map(line -> undent(line, one.column())).collect(Collectors.joining("\n"));
    }

    private static String undent(String line, int column) {
        int spaces = 0;
        while (spaces < column && spaces < line.length() && line.charAt(spaces) == ' ') {
            spaces++;
        }
        return line.substring(spaces);
    }

    private ItemText piece(YamlNode item) {
        int dash = yaml.start(item) - 1;
        while (dash >= 0 && Character.isWhitespace(yaml.text().charAt(dash))) {
            dash--;
        }
        if (dash < 0 || yaml.text().charAt(dash) != '-' || !yaml.isBlank(yaml.lineStart(dash), dash)) {
            throw FormatPreservingYamlEditor.editRejected(path, "an item does not begin on its own line");
        }
        int column = yaml.column(dash);
        int start = yaml.lineStart(dash);
        int above = yaml.lineEndAbove(start);
        while (above >= 0 && comment(yaml.lineStart(above)) == column) {
            start = yaml.lineStart(above);
            above = yaml.lineEndAbove(start);
        }
        int end = yaml.lineEnd(yaml.end(item));
        int below = yaml.afterBreak(end);
        while (below > end && below < yaml.text().length() && comment(below) > column) {
            end = yaml.lineEnd(below);
            below = yaml.afterBreak(end);
        }
        return new ItemText(start, end, column);
    }

    /** The indentation of a line that is only a comment; -1 for any other line. */
    private int comment(int lineStart) {
        String line = yaml.lineAt(lineStart);
        return line.strip().startsWith("#") ? line.indexOf('#') : -1;
    }

    private ItemText at(int index) {
        if (index < 0 || index >= pieces.size()) {
            throw FormatPreservingYamlEditor.editRejected(path, "there is no item at that index");
        }
        return pieces.get(index);
    }

    String swap(int index) {
        ItemText one = at(index);
        ItemText other = at(index + 1);
        String text = yaml.text();
        return yaml.replace(
                one.start(),
                other.end(),
                text.substring(other.start(), other.end())
                        + text.substring(one.end(), other.start())
                        + text.substring(one.start(), one.end()));
    }

    String remove(int index) {
        ItemText one = at(index);
        if (pieces.size() == 1) {
            throw FormatPreservingYamlEditor.editRejected(
                    path, "it is the only item, and a list of steps needs at least one");
        }
        int from = index == 0 ? one.end() : at(index - 1).end();
        int to = index == 0 ? at(1).start() : one.start();
        if (flow) {
            return index == 0 ? yaml.replace(one.start(), to, "") : yaml.replace(from, one.end(), "");
        }
        if (!yaml.isBlank(from, to)) {
            // A comment between the items belongs to neither: remove only the lines of the item.
            return yaml.replace(one.start(), yaml.afterBreak(one.end()), "");
        }
        // Also removes the gap, so that the remaining items keep their spacing.
        return index == 0 ? yaml.replace(one.start(), to, "") : yaml.replace(from, one.end(), "");
    }

    String insertAfter(int index, String item) {
        if (flow) {
            throw FormatPreservingYamlEditor.editRejected(
                    path, "the list is written in brackets instead of with dashes");
        }
        ItemText one = at(index);
        String newline = yaml.newline();
        String indent = " ".repeat(one.column());
        String lines = item.lines().map(line -> indent + line).collect(Collectors.joining(newline));
        return yaml.replace(one.end(), one.end(), newline + (airy(index) ? newline : "") + lines);
    }

    /** Whether an empty line separates it from its neighbours. */
    private boolean airy(int index) {
        int first = index > 0 ? index - 1 : index;
        if (first + 1 >= pieces.size()) {
            return false;
        }
        int end = at(first).end();
        return yaml.afterBreak(yaml.afterBreak(end)) <= at(first + 1).start()
                && yaml.lineAt(yaml.afterBreak(end)).isBlank();
    }
}
