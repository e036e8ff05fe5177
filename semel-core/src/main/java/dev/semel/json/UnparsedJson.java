package dev.semel.json;

import java.lang.ref.SoftReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;

/**
 * A value that is kept as its text, because a parsed tree of small values uses about 20 times the memory. The tree that
 * was parsed last stays only while memory is plentiful.
 */
public final class UnparsedJson {
    private final String text;
    private volatile @Nullable SoftReference<JsonNode> tree;

    private UnparsedJson(String text) {
        this.text = text;
    }

    /** Returns a node that holds the text of an object or array; other values as they are. */
    public static JsonNode compact(JsonNode value) {
        return value.isContainer()
                ? JsonNodeFactory.instance.pojoNode(new UnparsedJson(StrictJsonCodec.write(value)))
                : value;
    }

    /** Returns the value itself. Its members may be kept as text; do not change it. */
    public static JsonNode parse(JsonNode value) {
        return value instanceof POJONode pojo && pojo.getPojo() instanceof UnparsedJson kept ? kept.parse() : value;
    }

    /** Whether the value is kept as a text of more characters. A parsed value is not measured. */
    public static boolean isLongerThan(JsonNode value, int characters) {
        return value instanceof POJONode pojo
                && pojo.getPojo() instanceof UnparsedJson kept
                && kept.text.length() > characters;
    }

    /** Returns a copy of the value, which the caller may change. */
    public static JsonNode parseCopy(JsonNode value) {
        return value instanceof POJONode pojo && pojo.getPojo() instanceof UnparsedJson kept
                ? StrictJsonCodec.parse(kept.text)
                : value.deepCopy();
    }

    private JsonNode parse() {
        SoftReference<JsonNode> last = tree;
        JsonNode parsed = last == null ? null : last.get();
        if (parsed == null) {
            parsed = StrictJsonCodec.parse(text);
            tree = new SoftReference<>(parsed);
        }
        return parsed;
    }

    /** Returns the value with all of its members parsed; the same node if none was kept as text. */
    public static JsonNode parseAll(JsonNode value) {
        return switch (value.getNodeType()) {
            case POJO -> parse(value);
            case ARRAY -> parseElements(value);
            case OBJECT -> parseMembers(value);
            default -> value;
        };
    }

    @SuppressWarnings("ReferenceEquality") // the same node: nothing in it was kept as text
    private static JsonNode parseElements(JsonNode array) {
        ArrayNode parsed = null;
        for (int i = 0; i < array.size(); i++) {
            JsonNode element = array.get(i);
            JsonNode whole = parseAll(element);
            if (whole != element) {
                parsed = parsed == null ? JsonNodeFactory.instance.arrayNode().addAll((ArrayNode) array) : parsed;
                parsed.set(i, whole);
            }
        }
        return parsed == null ? array : parsed;
    }

    @SuppressWarnings("ReferenceEquality") // the same node: nothing in it was kept as text
    private static JsonNode parseMembers(JsonNode object) {
        ObjectNode parsed = null;
        for (var member : object.properties()) {
            JsonNode whole = parseAll(member.getValue());
            if (whole != member.getValue()) {
                parsed = parsed == null ? JsonNodeFactory.instance.objectNode().setAll((ObjectNode) object) : parsed;
                parsed.set(member.getKey(), whole);
            }
        }
        return parsed == null ? object : parsed;
    }
}
