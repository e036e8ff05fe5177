package dev.semel.idempotency;

import dev.semel.json.UntrustedNameLogSanitizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** A path in `data`: {@code customer.id}, {@code lines[0].sku}, or {@code lines[].sku} for the sku of every line. */
public final class JsonFieldPath {
    private sealed interface Part {}

    private record Member(String name) implements Part {}

    private record Element(int index) implements Part {}

    private record EveryElement() implements Part {}

    private static final int MAX_LENGTH = 256;
    private static final int MAX_INDEX_DIGITS = 6;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final String text;
    private final List<Part> parts;

    private JsonFieldPath(String text, List<Part> parts) {
        this.text = text;
        this.parts = List.copyOf(parts);
    }

    /** @throws IllegalArgumentException saying what is wrong and where */
    public static JsonFieldPath parse(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("a path is empty; write a path such as payment_id or lines[].sku");
        }
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("a path is longer than " + MAX_LENGTH + " characters");
        }
        List<Part> parts = new ArrayList<>();
        if (text.equals("$") || text.startsWith("$.")) {
            throw problem(text, 0, "a path must start with a member of data, without a leading $");
        }
        int at = member(text, 0, parts);
        while (at < text.length()) {
            at = text.charAt(at) == '.' ? member(text, at + 1, parts) : element(text, at, parts);
        }
        return new JsonFieldPath(text, parts);
    }

    /** The member with exactly this name, whatever characters it has. */
    public static JsonFieldPath member(String name) {
        return new JsonFieldPath(name, List.of(new Member(name)));
    }

    /** The value at this path; missing if a part of the path does not exist or has another type. */
    public JsonNode valueIn(JsonNode data) {
        return value(data, 0);
    }

    public FingerprintField toField() {
        return new FingerprintField(text, this::valueIn);
    }

    /** A removed array element becomes null, so that the others keep their index. The result is read-only. */
    public static JsonNode without(JsonNode data, List<JsonFieldPath> paths) {
        JsonNode rest = data;
        for (JsonFieldPath path : paths) {
            rest = path.removedFrom(rest, 0);
        }
        return rest;
    }

    /** Returns the data with {@code mark} instead of the values at these paths. Read-only, as above. */
    public static JsonNode mask(JsonNode data, List<JsonFieldPath> paths, JsonNode mark) {
        JsonNode rest = data;
        for (JsonFieldPath path : paths) {
            rest = path.maskedIn(rest, 0, mark);
        }
        return rest;
    }

    private JsonNode maskedIn(JsonNode node, int depth, JsonNode mark) {
        if (depth == parts.size()) {
            return node.isNull() ? node : mark;
        }
        return switch (parts.get(depth)) {
            case Member(String name) ->
                node.isObject() && node.has(name) ? memberMasked(node, name, depth, mark) : node;
            case Element(int index) -> elementsMasked(node, at -> at == index, depth, mark);
            case EveryElement() -> elementsMasked(node, _ -> true, depth, mark);
        };
    }

    private JsonNode memberMasked(JsonNode object, String name, int depth, JsonNode mark) {
        ObjectNode rest = NODES.objectNode();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            boolean meant = member.getKey().equals(name);
            rest.set(member.getKey(), meant ? maskedIn(member.getValue(), depth + 1, mark) : member.getValue());
        }
        return rest;
    }

    private JsonNode elementsMasked(JsonNode array, IntPredicate meant, int depth, JsonNode mark) {
        if (!array.isArray()) {
            return array;
        }
        ArrayNode rest = NODES.arrayNode(array.size());
        for (int i = 0; i < array.size(); i++) {
            rest.add(meant.test(i) ? maskedIn(array.get(i), depth + 1, mark) : array.get(i));
        }
        return rest;
    }

    @Override
    public String toString() {
        return text;
    }

    private JsonNode value(JsonNode node, int depth) {
        if (depth == parts.size()) {
            return node;
        }
        return switch (parts.get(depth)) {
            case Member(String name) -> value(node.isObject() ? node.path(name) : MissingNode.getInstance(), depth + 1);
            case Element(int index) -> value(node.isArray() ? node.path(index) : MissingNode.getInstance(), depth + 1);
            case EveryElement() -> {
                if (!node.isArray()) {
                    yield MissingNode.getInstance();
                }
                ArrayNode all = NODES.arrayNode(node.size());
                node.forEach(element -> all.add(value(element, depth + 1)));
                yield all;
            }
        };
    }

    private JsonNode removedFrom(JsonNode node, int depth) {
        return switch (parts.get(depth)) {
            case Member(String name) -> node.has(name) ? withoutMember(node, name, depth) : node;
            case Element(int index) -> node.has(index) ? withoutElements(node, index, index + 1, depth) : node;
            case EveryElement() -> node.isArray() ? withoutElements(node, 0, node.size(), depth) : node;
        };
    }

    private JsonNode withoutMember(JsonNode object, String removed, int depth) {
        ObjectNode rest = NODES.objectNode();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (!member.getKey().equals(removed)) {
                rest.set(member.getKey(), member.getValue());
            } else if (depth + 1 < parts.size()) {
                rest.set(removed, removedFrom(member.getValue(), depth + 1));
            }
        }
        return rest;
    }

    private JsonNode withoutElements(JsonNode array, int from, int to, int depth) {
        ArrayNode rest = NODES.arrayNode(array.size());
        for (int i = 0; i < array.size(); i++) {
            JsonNode element = array.get(i);
            if (i < from || i >= to) {
                rest.add(element);
            } else if (depth + 1 < parts.size()) {
                rest.add(removedFrom(element, depth + 1));
            } else {
                rest.addNull();
            }
        }
        return rest;
    }

    private static int member(String text, int start, List<Part> parts) {
        int at = start;
        while (at < text.length() && isNameCharacter(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw problem(text, at, "a member name is expected");
        }
        if (at < text.length() && text.charAt(at) != '.' && text.charAt(at) != '[') {
            throw problem(text, at, "after a member name, only a dot, [ or the end of the path is allowed");
        }
        parts.add(new Member(text.substring(start, at)));
        return at;
    }

    private static int element(String text, int open, List<Part> parts) {
        if (text.charAt(open) != '[') {
            throw problem(text, open, "a dot or [ is expected");
        }
        int close = text.indexOf(']', open);
        if (close < 0) {
            throw problem(text, open, "[ is not closed");
        }
        String index = text.substring(open + 1, close);
        boolean digits = index.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!digits || index.length() > MAX_INDEX_DIGITS) {
            throw problem(text, open + 1, "write an index such as 0 between [ and ], or nothing for every element");
        }
        parts.add(index.isEmpty() ? new EveryElement() : new Element(Integer.parseInt(index)));
        return close + 1;
    }

    /** Excludes characters that would make a path look like an expression or a quoted name. */
    private static boolean isNameCharacter(char c) {
        return c > ' ' && c != 0x7F && ".[]{}()\"'`\\,".indexOf(c) < 0;
    }

    private static IllegalArgumentException problem(String text, int at, String rule) {
        String found = at < text.length() ? IdempotencyKeyAlphabet.describe(text, at) : "the path ends there";
        return new IllegalArgumentException(
                "path " + UntrustedNameLogSanitizer.of(text, 64) + ": " + rule + ", but " + found);
    }
}
