package dev.semel.json;

import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Writes a JSON tree with its member order. Rejects values that {@link JsonReader} would reject. */
final class JsonWriter {
    private JsonWriter() {}

    static void write(JsonNode value, JsonOutputBuffer out) {
        write(value, out, 1);
    }

    private static void write(JsonNode value, JsonOutputBuffer out, int depth) {
        switch (value.getNodeType()) {
            case OBJECT -> object(value, out, depth);
            case ARRAY -> array(value, out, depth);
            case STRING, BINARY -> string(value.asString(), out);
            case NUMBER -> number(value, out);
            case BOOLEAN -> out.appendAscii(value.booleanValue() ? "true" : "false");
            case NULL -> out.appendAscii("null");
            case MISSING ->
                throw InvalidJsonErrorFactory.unwritable(
                        "it contains a Jackson MissingNode, which is not a JSON value");
            case POJO -> throw InvalidJsonErrorFactory.unwritable("it contains a Java object");
        }
    }

    private static void object(JsonNode object, JsonOutputBuffer out, int depth) {
        checkDepth(depth);
        char separator = '{';
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            out.append(separator);
            if (member.getKey().length() > StrictJsonCodec.MAX_NAME) {
                throw InvalidJsonErrorFactory.unwritable(
                        "a member name is longer than " + StrictJsonCodec.MAX_NAME + " characters");
            }
            out.appendString(member.getKey());
            out.append(':');
            write(member.getValue(), out, depth + 1);
            separator = ',';
        }
        out.appendAscii(object.isEmpty() ? "{}" : "}");
    }

    private static void array(JsonNode array, JsonOutputBuffer out, int depth) {
        checkDepth(depth);
        char separator = '[';
        for (JsonNode element : array.values()) {
            out.append(separator);
            write(element, out, depth + 1);
            separator = ',';
        }
        out.appendAscii(array.isEmpty() ? "[]" : "]");
    }

    private static void string(String text, JsonOutputBuffer out) {
        if (text.length() > StrictJsonCodec.MAX_STRING) {
            throw InvalidJsonErrorFactory.unwritable(
                    "a string is longer than " + StrictJsonCodec.MAX_STRING + " characters");
        }
        out.appendString(text);
    }

    private static void number(JsonNode number, JsonOutputBuffer out) {
        String text = JsonNumberToDecimalConverter.text(number);
        if (text.length() > StrictJsonCodec.MAX_NUMBER) {
            throw InvalidJsonErrorFactory.unwritable(
                    "a number is longer than " + StrictJsonCodec.MAX_NUMBER + " characters");
        }
        out.appendAscii(text);
    }

    private static void checkDepth(int depth) {
        if (depth > StrictJsonCodec.MAX_DEPTH) {
            throw InvalidJsonErrorFactory.unwritable(
                    "it is nested deeper than " + StrictJsonCodec.MAX_DEPTH + " levels");
        }
    }
}
