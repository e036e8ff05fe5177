package dev.semel.server.files.yaml;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A workflow file whose values can be edited one at a time. An edit keeps every other character: comments, order, quotes
 * and line endings. It returns the edited file, so that a series of edits parses each text once.
 *
 * <p>The editor reads the result again and compares it with the intended change. If they differ, it rejects the edit
 * and the text stays unchanged.
 *
 * <p>A path is a list of names and indexes that lead to a value: `steps, 0, idempotent, time`.
 */
public final class FormatPreservingYamlEditor {
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private final String mark;
    private final YamlSourceMap yaml;
    private final JsonNode content;

    private FormatPreservingYamlEditor(String mark, YamlSourceMap yaml) {
        this.mark = mark;
        this.yaml = yaml;
        this.content = yaml.root().toJson();
    }

    /** @throws SemelException if the text is not valid YAML, with the position */
    public static FormatPreservingYamlEditor of(String text) {
        String mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
        return new FormatPreservingYamlEditor(mark, YamlSourceMap.of(text.substring(mark.length())));
    }

    public String text() {
        return mark + yaml.text();
    }

    public YamlNode root() {
        return yaml.root();
    }

    public YamlSourceText source() {
        return yaml.source();
    }

    /** Writes a text, number or boolean, and creates missing maps around it. */
    public FormatPreservingYamlEditor set(List<String> path, JsonNode value) {
        JsonNode exact = exact(value);
        JsonNode wanted = ExpectedContent.set(content, path, exact);
        return first(new YamlMapEntryEditor(yaml, path).candidatesWith(exact), wanted, path);
    }

    /** Removes an entry of a map, with the comment on its line. Does nothing if it is absent. */
    public FormatPreservingYamlEditor remove(List<String> path) {
        if (yaml.find(path) == null) {
            return this;
        }
        JsonNode wanted = ExpectedContent.removed(content, path);
        return first(new YamlMapEntryEditor(yaml, path).candidatesWithout(), wanted, path);
    }

    /** Inserts an item, written without indentation, after another item of a list. */
    public FormatPreservingYamlEditor insertAfter(List<String> list, int index, String item) {
        JsonNode added = YamlSourceMap.of(item).root().toJson().path(0);
        JsonNode wanted = ExpectedContent.changed(content, list, items -> items.insert(index + 1, added));
        return first(List.of(YamlListEditor.of(yaml, list).insertAfter(index, item)), wanted, list);
    }

    /** The text of an item without its indentation, as {@link #insertAfter} takes it. */
    public String itemText(List<String> list, int index) {
        return YamlListEditor.of(yaml, list).text(index);
    }

    /** Swaps an item with the next one, each with its comments. */
    public FormatPreservingYamlEditor swap(List<String> list, int index) {
        JsonNode wanted = ExpectedContent.changed(content, list, items -> items.insert(index, items.remove(index + 1)));
        return first(List.of(YamlListEditor.of(yaml, list).swap(index)), wanted, list);
    }

    /** Removes an item, with its comments. */
    public FormatPreservingYamlEditor removeItem(List<String> list, int index) {
        JsonNode wanted = ExpectedContent.changed(content, list, items -> items.remove(index));
        return first(List.of(YamlListEditor.of(yaml, list).remove(index)), wanted, list);
    }

    /** The number as the reader parses it, for the comparison. */
    private static JsonNode exact(JsonNode value) {
        if (value.isContainer() || value.isNull() || value.isMissingNode()) {
            throw editRejected(List.of(), "a form can write only text, numbers, true and false");
        }
        if (!value.isNumber()) {
            return value;
        }
        try {
            return YamlScalarParser.parse(value.asString());
        } catch (YamlScalarParser.UnsupportedNumber e) {
            throw editRejected(List.of(), String.valueOf(e.getMessage()));
        }
    }

    /** The first candidate text whose content equals the intended content. */
    private FormatPreservingYamlEditor first(List<String> candidates, JsonNode wanted, List<String> path) {
        for (String candidate : candidates) {
            FormatPreservingYamlEditor edited = parsed(candidate);
            if (edited != null && edited.content.equals(wanted)) {
                return edited;
            }
        }
        throw editRejected(path, "its YAML style is too complex for an automatic edit");
    }

    private @Nullable FormatPreservingYamlEditor parsed(String candidate) {
        try {
            return new FormatPreservingYamlEditor(mark, YamlSourceMap.of(candidate));
        } catch (SemelException e) {
            return null; // invalid YAML: try the next candidate
        }
    }

    static SemelException editRejected(List<String> path, String because) {
        String place =
                path.isEmpty() ? "This value" : "'" + MisspelledNameSuggester.shorten(String.join(".", path)) + "'";
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                place + " cannot be changed by a form: " + because + ". The text is unchanged; nothing was published.",
                "Edit the text directly.");
    }

    private static final class ExpectedContent {
        private ExpectedContent() {}

        static JsonNode set(JsonNode before, List<String> path, JsonNode value) {
            JsonNode root = before.deepCopy();
            JsonNode at = root;
            for (String name : path.subList(0, path.size() - 1)) {
                JsonNode next = step(at, name);
                if (at instanceof ObjectNode map && (next.isMissingNode() || next.isNull())) {
                    next = map.putObject(name);
                }
                at = next;
            }
            if (!(at instanceof ObjectNode map)) {
                throw editRejected(path, "its parent is not a map");
            }
            map.set(path.getLast(), value);
            return root;
        }

        static JsonNode removed(JsonNode before, List<String> path) {
            JsonNode root = before.deepCopy();
            if (!(at(root, path.subList(0, path.size() - 1)) instanceof ObjectNode map)) {
                throw editRejected(path, "its parent is not a map");
            }
            map.remove(path.getLast());
            return root;
        }

        interface ListChange {
            @Nullable
            Object of(ArrayNode items);
        }

        static JsonNode changed(JsonNode before, List<String> list, ListChange change) {
            JsonNode root = before.deepCopy();
            if (!(at(root, list) instanceof ArrayNode items)) {
                throw editRejected(list, "it is not a list");
            }
            change.of(items);
            return root;
        }

        private static JsonNode at(JsonNode root, List<String> path) {
            JsonNode at = root;
            for (String name : path) {
                at = step(at, name);
            }
            return at;
        }

        private static JsonNode step(JsonNode at, String name) {
            return at.isArray() && name.matches("[0-9]{1,5}") ? at.path(Integer.parseInt(name)) : at.path(name);
        }
    }
}
