package dev.semel.idempotency;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Makes documents from a seed, and spells the same document in another way. */
final class RandomDocument {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String[] CHARACTERS = {
        "a", "B", "0", " ", "\"", "\\", "/", "\n", "\u0000", "\u001f", "\u007f", "ö", "€", "\u2028", "\ufb33", "😀",
        "e\u0301"
    };

    private final Random random;

    RandomDocument(Random random) {
        this.random = random;
    }

    ObjectNode object(int depth) {
        ObjectNode object = NODES.objectNode();
        int size = random.nextInt(6);
        for (int i = 0; i < size; i++) {
            object.set(string(), value(depth - 1));
        }
        return object;
    }

    JsonNode value(int depth) {
        return switch (random.nextInt(depth > 0 ? 8 : 6)) {
            case 0 -> NODES.nullNode();
            case 1 -> NODES.booleanNode(random.nextBoolean());
            case 2, 3 -> NODES.stringNode(string());
            case 4, 5 -> NODES.numberNode(number());
            case 6 -> object(depth);
            default -> array(depth);
        };
    }

    /** The same document with members, white space, numbers and escapes as somebody else might write them. */
    String spelled(JsonNode value) {
        return switch (value.getNodeType()) {
            case OBJECT -> {
                List<String> members = new ArrayList<>();
                for (Map.Entry<String, JsonNode> member : value.properties()) {
                    members.add(space() + spelled(member.getKey()) + space() + ":" + spelled(member.getValue()));
                }
                Collections.shuffle(members, random);
                yield space() + "{" + String.join(",", members) + space() + "}" + space();
            }
            case ARRAY -> {
                List<String> elements = new ArrayList<>();
                value.forEach(element -> elements.add(spelled(element)));
                yield space() + "[" + String.join(",", elements) + space() + "]" + space();
            }
            case STRING -> space() + spelled(value.stringValue()) + space();
            case NUMBER -> space() + spelled(value.decimalValue()) + space();
            default -> space() + value + space();
        };
    }

    /** A copy in which one leaf, or one empty container, is another one, or one member is gone. */
    JsonNode withOneChange(JsonNode value) {
        if (value.isObject() && !value.isEmpty()) {
            ObjectNode copy = ((ObjectNode) value).deepCopy();
            List<String> names = new ArrayList<>(copy.propertyNames());
            String name = names.get(random.nextInt(names.size()));
            if (random.nextInt(10) == 0) {
                copy.remove(name);
            } else {
                copy.set(name, withOneChange(copy.get(name)));
            }
            return copy;
        }
        if (value.isArray() && !value.isEmpty()) {
            ArrayNode copy = ((ArrayNode) value).deepCopy();
            int index = random.nextInt(copy.size());
            copy.set(index, withOneChange(copy.get(index)));
            return copy;
        }
        return switch (value.getNodeType()) {
            case STRING -> NODES.stringNode(value.stringValue() + CHARACTERS[random.nextInt(CHARACTERS.length)]);
            case NUMBER ->
                NODES.numberNode(value.decimalValue().add(value.decimalValue().ulp()));
            case BOOLEAN -> NODES.booleanNode(!value.booleanValue());
            case NULL -> NODES.stringNode("null");
            case OBJECT -> NODES.arrayNode();
            default -> NODES.nullNode();
        };
    }

    private ArrayNode array(int depth) {
        ArrayNode array = NODES.arrayNode();
        int size = random.nextInt(5);
        for (int i = 0; i < size; i++) {
            array.add(value(depth - 1));
        }
        return array;
    }

    private String string() {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(6);
        for (int i = 0; i < length; i++) {
            text.append(CHARACTERS[random.nextInt(CHARACTERS.length)]);
        }
        return text.toString();
    }

    private BigDecimal number() {
        return switch (random.nextInt(5)) {
            case 0 -> BigDecimal.valueOf(random.nextInt(20) - 10);
            case 1 -> BigDecimal.valueOf(random.nextLong());
            case 2 -> BigDecimal.valueOf(random.nextInt(2_000_000) - 1_000_000, 2);
            case 3 -> new BigDecimal(new BigInteger(200, random), random.nextInt(400) - 200);
            default -> BigDecimal.valueOf(random.nextInt(100), random.nextInt(2_000_000) - 1_000_000);
        };
    }

    private String spelled(BigDecimal value) {
        int moved = random.nextInt(30) - 15;
        String zeros = "0".repeat(random.nextInt(4));
        String sign = value.signum() < 0 || (value.signum() == 0 && random.nextBoolean()) ? "-" : "";
        String digits = value.unscaledValue().abs().toString();
        long exponent = -(long) value.scale();
        return switch (random.nextInt(4)) {
            case 0 -> value.toString();
            case 1 -> sign + digits + "." + zeros + "0" + "eE".charAt(random.nextInt(2)) + exponent;
            case 2 ->
                sign + digits.charAt(0) + "." + digits.substring(1) + "0" + zeros
                        + (exponent + digits.length() - 1 >= 0 && random.nextBoolean() ? "e+" : "e")
                        + (exponent + digits.length() - 1);
            default ->
                moved >= 0 && value.signum() != 0
                        ? sign + digits + "0".repeat(moved) + "e" + (exponent - moved)
                        : sign + "0." + "0".repeat(Math.abs(moved)) + digits + "e"
                                + (exponent + digits.length() + Math.abs(moved));
        };
    }

    private String spelled(String text) {
        StringBuilder spelled = new StringBuilder("\"");
        for (int codePoint : text.codePoints().toArray()) {
            String character = Character.toString(codePoint);
            if (codePoint < 0x20 || codePoint == '"' || codePoint == '\\' || random.nextInt(5) == 0) {
                String escape = random.nextBoolean() ? "\\u%04x" : "\\u%04X";
                character.chars().forEach(unit -> spelled.append(escape.formatted(unit)));
            } else {
                spelled.append(character);
            }
        }
        return spelled.append('"').toString();
    }

    private String space() {
        return random.nextInt(4) == 0 ? " \n\t\r".substring(random.nextInt(4)) : "";
    }
}
