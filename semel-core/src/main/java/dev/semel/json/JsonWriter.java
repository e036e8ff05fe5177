package dev.semel.json;

import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Writes a JSON tree with its member order. Rejects values that {@link JsonReader} would reject. */
final class JsonWriter {
    private JsonWriter() {}

    static void write(JsonNode value, JsonBytes out) {
        write(value, out, 1);
    }

    private static void write(JsonNode value, JsonBytes out, int depth) {
        switch (value.getNodeType()) {
            case OBJECT -> object(value, out, depth);
            case ARRAY -> array(value, out, depth);
            case STRING, BINARY -> string(value.asString(), out);
            case NUMBER -> number(value, out);
            case BOOLEAN -> out.ascii(value.booleanValue() ? "true" : "false");
            case NULL -> out.ascii("null");
            case MISSING -> throw JsonProblem.unwritable("it contains a missing node, which differs from null");
            case POJO -> throw JsonProblem.unwritable("it contains a Java object");
        }
    }

    private static void object(JsonNode object, JsonBytes out, int depth) {
        checkDepth(depth);
        char separator = '{';
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            out.put(separator);
            if (member.getKey().length() > Json.MAX_NAME) {
                throw JsonProblem.unwritable("a member name is longer than " + Json.MAX_NAME + " characters");
            }
            out.string(member.getKey());
            out.put(':');
            write(member.getValue(), out, depth + 1);
            separator = ',';
        }
        out.ascii(object.isEmpty() ? "{}" : "}");
    }

    private static void array(JsonNode array, JsonBytes out, int depth) {
        checkDepth(depth);
        char separator = '[';
        for (JsonNode element : array.values()) {
            out.put(separator);
            write(element, out, depth + 1);
            separator = ',';
        }
        out.ascii(array.isEmpty() ? "[]" : "]");
    }

    private static void string(String text, JsonBytes out) {
        if (text.length() > Json.MAX_STRING) {
            throw JsonProblem.unwritable("a string is longer than " + Json.MAX_STRING + " characters");
        }
        out.string(text);
    }

    private static void number(JsonNode number, JsonBytes out) {
        String text = JsonNumbers.text(number);
        if (text.length() > Json.MAX_NUMBER) {
            throw JsonProblem.unwritable("a number is longer than " + Json.MAX_NUMBER + " characters");
        }
        out.ascii(text);
    }

    private static void checkDepth(int depth) {
        if (depth > Json.MAX_DEPTH) {
            throw JsonProblem.unwritable("it is nested deeper than " + Json.MAX_DEPTH + " levels");
        }
    }
}
