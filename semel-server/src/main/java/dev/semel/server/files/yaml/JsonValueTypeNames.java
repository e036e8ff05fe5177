package dev.semel.server.files.yaml;

import tools.jackson.databind.JsonNode;

/** Names the type of a JSON value for messages, which must never show the value itself. */
public final class JsonValueTypeNames {
    private JsonValueTypeNames() {}

    public static String nameOf(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> "text";
            case NUMBER -> "a number";
            case BOOLEAN -> "a boolean";
            case NULL -> "null";
            case OBJECT -> "a map";
            case ARRAY -> "a list";
            case MISSING, BINARY, POJO -> "nothing";
        };
    }
}
