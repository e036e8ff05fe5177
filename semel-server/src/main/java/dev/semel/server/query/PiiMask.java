package dev.semel.server.query;

import dev.semel.idempotency.JsonFieldPath;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** @param values matches the values of the PII fields in any text; null if no value is long enough to search for */
public record PiiMask(List<JsonFieldPath> paths, @Nullable Pattern values) {
    static final PiiMask NONE = new PiiMask(List.of(), null);
    static final PiiMask ALL = new PiiMask(List.of(), RunPiiMaskFactory.EVERYTHING);
    private static final JsonNode MARKED = StringNode.valueOf(RunPiiMaskFactory.MASK_TEXT);

    public List<String> fieldNames() {
        return paths.stream().map(JsonFieldPath::toString).distinct().toList();
    }

    public JsonNode maskInput(JsonNode input) {
        return paths.isEmpty() ? input : maskNode(JsonFieldPath.mask(input, paths, MARKED), true);
    }

    /** Masks a step result or another value derived from the input. */
    public JsonNode maskValue(JsonNode value) {
        return maskNode(value, true);
    }

    /** Masks values but keeps member names, which Semel chose. */
    JsonNode maskValuesOnly(JsonNode value) {
        return maskNode(value, false);
    }

    String maskText(String text) {
        return values == null ? text : values.matcher(text).replaceAll(RunPiiMaskFactory.MASK_TEXT);
    }

    private JsonNode maskNode(JsonNode node, boolean names) {
        if (values == null) {
            return node;
        }
        if (node instanceof ObjectNode object) {
            ObjectNode out = JsonNodeFactory.instance.objectNode();
            object.properties().forEach(member -> {
                String name = names ? uniqueName(maskText(member.getKey()), out) : member.getKey();
                out.set(name, maskNode(member.getValue(), names));
            });
            return out;
        }
        if (node instanceof ArrayNode array) {
            List<JsonNode> all = new ArrayList<>();
            array.forEach(element -> all.add(maskNode(element, names)));
            return JsonNodeFactory.instance.arrayNode().addAll(all);
        }
        if (!node.isString() && !node.isNumber()) {
            return node;
        }
        String text = node.asString();
        String masked = maskText(text);
        return masked.equals(text) ? node : StringNode.valueOf(masked);
    }

    /** Numbers member names that are equal after masking, so that none is lost. */
    private static String uniqueName(String name, ObjectNode taken) {
        String free = name;
        for (int n = 2; taken.has(free); n++) {
            free = name + " " + n;
        }
        return free;
    }
}
