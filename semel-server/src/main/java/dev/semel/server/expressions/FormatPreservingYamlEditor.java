package dev.semel.server.expressions;

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
    private static final String MARK = "\uFEFF";

    private FormatPreservingYamlEditor() {}

    /** Writes a text, number or boolean, and creates missing maps around it. */
    public static String set(String text, List<String> path, JsonNode value) {
        return marked(text, bare -> {
            YamlSourceMap yaml = YamlSourceMap.of(bare);
            JsonNode exact = exact(value);
            JsonNode wanted = ExpectedContent.set(yaml.root().toJson(), path, exact);
            return first(new YamlMapEntryEditor(yaml, path).candidatesWith(exact), wanted, path);
        });
    }

    /** Removes an entry of a map, with the comment on its line. Does nothing if it is absent. */
    public static String remove(String text, List<String> path) {
        return marked(text, bare -> {
            YamlSourceMap yaml = YamlSourceMap.of(bare);
            if (yaml.find(path) == null) {
                return bare;
            }
            JsonNode wanted = ExpectedContent.removed(yaml.root().toJson(), path);
            return first(new YamlMapEntryEditor(yaml, path).candidatesWithout(), wanted, path);
        });
    }

    /** Inserts an item, written without indentation, after another item of a list. */
    public static String insertAfter(String text, List<String> list, int index, String item) {
        return marked(text, bare -> {
            YamlSourceMap yaml = YamlSourceMap.of(bare);
            JsonNode added = YamlSourceMap.of(item).root().toJson().path(0);
            JsonNode wanted =
                    ExpectedContent.changed(yaml.root().toJson(), list, items -> items.insert(index + 1, added));
            return first(List.of(YamlListEditor.of(yaml, list).insertAfter(index, item)), wanted, list);
        });
    }

    /** Swaps an item with the next one, each with its comments. */
    public static String swap(String text, List<String> list, int index) {
        return marked(text, bare -> {
            YamlSourceMap yaml = YamlSourceMap.of(bare);
            JsonNode wanted = ExpectedContent.changed(
                    yaml.root().toJson(), list, items -> items.insert(index, items.remove(index + 1)));
            return first(List.of(YamlListEditor.of(yaml, list).swap(index)), wanted, list);
        });
    }

    /** Removes an item, with its comments. */
    public static String removeItem(String text, List<String> list, int index) {
        return marked(text, bare -> {
            YamlSourceMap yaml = YamlSourceMap.of(bare);
            JsonNode wanted = ExpectedContent.changed(yaml.root().toJson(), list, items -> items.remove(index));
            return first(List.of(YamlListEditor.of(yaml, list).remove(index)), wanted, list);
        });
    }

    /** An edit of a text without its byte order mark. */
    private interface TextChange {
        String of(String bare);
    }

    /** Keeps a byte order mark in front of the text. */
    private static String marked(String text, TextChange change) {
        return text.startsWith(MARK) ? MARK + change.of(text.substring(1)) : change.of(text);
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
    private static String first(List<String> ways, JsonNode wanted, List<String> path) {
        for (String way : ways) {
            if (says(way, wanted)) {
                return way;
            }
        }
        throw editRejected(path, "its YAML style is too complex for an automatic edit");
    }

    private static boolean says(String way, JsonNode wanted) {
        try {
            return YamlSourceMap.of(way).root().toJson().equals(wanted);
        } catch (SemelException e) {
            return false; // invalid YAML: try the next candidate
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
