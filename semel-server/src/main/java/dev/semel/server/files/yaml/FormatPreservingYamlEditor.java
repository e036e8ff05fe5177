package dev.semel.server.files.yaml;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Edits one value of a workflow file and keeps every other character: comments, order, quotes and line endings.
 *
 * <p>The editor reads the result again and compares it with the intended change. If they differ, it rejects the edit
 * and the text stays unchanged.
 *
 * <p>A path is a list of names and indexes that lead to a value: `steps, 0, idempotent, time`.
 */
public final class FormatPreservingYamlEditor {
    private FormatPreservingYamlEditor() {}

    /** Writes a text, number or boolean, and creates missing maps around it. */
    public static EditableYaml set(EditableYaml yaml, List<String> path, JsonNode value) {
        JsonNode exact = exact(value);
        JsonNode wanted = ExpectedContent.set(yaml.content(), path, exact);
        return first(yaml, new YamlMapEntryEditor(yaml.positions(), path).candidatesWith(exact), wanted, path);
    }

    /** Removes an entry of a map, with the comment on its line. Does nothing if it is absent. */
    public static EditableYaml remove(EditableYaml yaml, List<String> path) {
        if (yaml.positions().find(path) == null) {
            return yaml;
        }
        JsonNode wanted = ExpectedContent.removed(yaml.content(), path);
        return first(yaml, new YamlMapEntryEditor(yaml.positions(), path).candidatesWithout(), wanted, path);
    }

    /** Inserts an item, written without indentation, after another item of a list. */
    public static EditableYaml insertAfter(EditableYaml yaml, List<String> list, int index, String item) {
        JsonNode added = YamlSourceMap.of(item).root().toJson().path(0);
        JsonNode wanted = ExpectedContent.changed(yaml.content(), list, items -> items.insert(index + 1, added));
        return first(yaml, List.of(YamlListEditor.of(yaml.positions(), list).insertAfter(index, item)), wanted, list);
    }

    /** The text of an item without its indentation, as {@link #insertAfter} takes it. */
    public static String itemText(EditableYaml yaml, List<String> list, int index) {
        return YamlListEditor.of(yaml.positions(), list).text(index);
    }

    /** Swaps an item with the next one, each with its comments. */
    public static EditableYaml swap(EditableYaml yaml, List<String> list, int index) {
        JsonNode wanted =
                ExpectedContent.changed(yaml.content(), list, items -> items.insert(index, items.remove(index + 1)));
        return first(yaml, List.of(YamlListEditor.of(yaml.positions(), list).swap(index)), wanted, list);
    }

    /** Removes an item, with its comments. */
    public static EditableYaml removeItem(EditableYaml yaml, List<String> list, int index) {
        JsonNode wanted = ExpectedContent.changed(yaml.content(), list, items -> items.remove(index));
        return first(yaml, List.of(YamlListEditor.of(yaml.positions(), list).remove(index)), wanted, list);
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
    private static EditableYaml first(EditableYaml before, List<String> ways, JsonNode wanted, List<String> path) {
        for (String way : ways) {
            EditableYaml edited = parsed(before, way);
            if (edited != null && edited.content().equals(wanted)) {
                return edited;
            }
        }
        throw editRejected(path, "its YAML style is too complex for an automatic edit");
    }

    private static @Nullable EditableYaml parsed(EditableYaml before, String way) {
        try {
            return before.withText(way);
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
