package dev.semel.server.language;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Changes one thing in a workflow file and leaves every other character of it as it is: comments, order, quotes, ends of
 * lines. What comes out is read again and compared with the change that was meant; where it says anything else the change
 * is refused, so that a form can be of no use but never do harm.
 *
 * <p>A path is the names and places that lead to a value: `steps, 0, idempotent, time`.
 */
public final class YamlEdit {
    private static final String MARK = "\uFEFF";

    private YamlEdit() {}

    /** Writes a text, number or truth value, and the maps around it that are not there yet. */
    public static String set(String text, List<String> path, JsonNode value) {
        return marked(text, bare -> {
            YamlText yaml = YamlText.of(bare);
            JsonNode exact = exact(value);
            JsonNode wanted = Meant.set(yaml.root().toJson(), path, exact);
            return first(new YamlMember(yaml, path).written(exact), wanted, path);
        });
    }

    /** Takes a member of a map away, with the comment on its line. Nothing where it is not there. */
    public static String remove(String text, List<String> path) {
        return marked(text, bare -> {
            YamlText yaml = YamlText.of(bare);
            if (yaml.find(path) == null) {
                return bare;
            }
            JsonNode wanted = Meant.removed(yaml.root().toJson(), path);
            return first(new YamlMember(yaml, path).removed(), wanted, path);
        });
    }

    /** Puts an item, written as it stands at the left edge, behind another one of a list. */
    public static String insertAfter(String text, List<String> list, int index, String item) {
        return marked(text, bare -> {
            YamlText yaml = YamlText.of(bare);
            JsonNode added = YamlText.of(item).root().toJson().path(0);
            JsonNode wanted = Meant.changed(yaml.root().toJson(), list, items -> items.insert(index + 1, added));
            return first(List.of(YamlItems.of(yaml, list).insertAfter(index, item)), wanted, list);
        });
    }

    /** Lets an item and the next one change places, each with the comments that belong to it. */
    public static String swap(String text, List<String> list, int index) {
        return marked(text, bare -> {
            YamlText yaml = YamlText.of(bare);
            JsonNode wanted =
                    Meant.changed(yaml.root().toJson(), list, items -> items.insert(index, items.remove(index + 1)));
            return first(List.of(YamlItems.of(yaml, list).swap(index)), wanted, list);
        });
    }

    /** Takes an item away, with the comments that belong to it. */
    public static String removeItem(String text, List<String> list, int index) {
        return marked(text, bare -> {
            YamlText yaml = YamlText.of(bare);
            JsonNode wanted = Meant.changed(yaml.root().toJson(), list, items -> items.remove(index));
            return first(List.of(YamlItems.of(yaml, list).remove(index)), wanted, list);
        });
    }

    private interface Change {
        String of(String bare);
    }

    /** A byte order mark is no part of the text, and stays in front of it. */
    private static String marked(String text, Change change) {
        return text.startsWith(MARK) ? MARK + change.of(text.substring(1)) : change.of(text);
    }

    /** The number as the reader would have it, so that the two can be compared. */
    private static JsonNode exact(JsonNode value) {
        if (value.isContainer() || value.isNull() || value.isMissingNode()) {
            throw refused(List.of(), "only text, numbers and true or false are written by a form");
        }
        if (!value.isNumber()) {
            return value;
        }
        try {
            return CoreScalar.of(value.asString());
        } catch (CoreScalar.BadNumber e) {
            throw refused(List.of(), String.valueOf(e.getMessage()));
        }
    }

    /** The first text that says what is meant. */
    private static String first(List<String> ways, JsonNode wanted, List<String> path) {
        for (String way : ways) {
            if (says(way, wanted)) {
                return way;
            }
        }
        throw refused(path, "it is written in a way that only a person should touch");
    }

    private static boolean says(String way, JsonNode wanted) {
        try {
            return YamlText.of(way).root().toJson().equals(wanted);
        } catch (SemelException e) {
            return false; // what cannot be read says nothing; the next way may
        }
    }

    static SemelException refused(List<String> path, String because) {
        String place = path.isEmpty() ? "This value" : "'" + Texts.shortened(String.join(".", path)) + "'";
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                place + " cannot be changed by a form: " + because + ". The text is as it was; nothing was published.",
                "Change it in the text.");
    }

    /** What a file is to say after a change. */
    private static final class Meant {
        private Meant() {}

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
                throw refused(path, "what it would stand in is no map");
            }
            map.set(path.getLast(), value);
            return root;
        }

        static JsonNode removed(JsonNode before, List<String> path) {
            JsonNode root = before.deepCopy();
            if (!(at(root, path.subList(0, path.size() - 1)) instanceof ObjectNode map)) {
                throw refused(path, "what it stands in is no map");
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
                throw refused(list, "it is no list");
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
