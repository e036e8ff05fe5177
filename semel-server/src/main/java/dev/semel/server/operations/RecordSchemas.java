package dev.semel.server.operations;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.query.view.Described;
import dev.semel.server.query.view.Page;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates JSON schemas from records, as {@link ViewJson} writes them. Each record becomes one named schema, whose name
 * is the name of the class without `View`.
 */
final class RecordSchemas {
    private final ObjectNode schemas = JsonNodeFactory.instance.objectNode();

    /** The named schemas so far. */
    ObjectNode all() {
        return schemas;
    }

    /** A reference to the schema of a record, or of a page of it. */
    ObjectNode reference(Class<?> type, boolean page) {
        ObjectNode row = named(type);
        if (!page) {
            return row;
        }
        String name = nameOf(type) + "List";
        if (!schemas.has(name)) {
            ObjectNode list = object();
            ObjectNode properties = list.putObject("properties");
            properties.putObject("items").put("type", "array").set("items", row);
            properties.set("next", nullable(text("string")));
            list.putArray("required").add("items").add("next");
            schemas.set(name, list);
        }
        return reference(name);
    }

    private static String nameOf(Class<?> type) {
        String name = type.getSimpleName();
        return name.endsWith("View") ? name.substring(0, name.length() - "View".length()) : name;
    }

    private static ObjectNode reference(String name) {
        return JsonNodeFactory.instance.objectNode().put("$ref", "#/components/schemas/" + name);
    }

    private ObjectNode named(Class<?> type) {
        String name = nameOf(type);
        if (!schemas.has(name)) {
            ObjectNode schema = schemas.putObject(name); // first, so that a record can contain itself
            if (type.isSealed()) {
                ArrayNode cases = schema.putArray("oneOf");
                Arrays.stream(type.getPermittedSubclasses()).map(this::named).forEach(cases::add);
            } else if (type.isRecord()) {
                fill(schema, type);
            } else {
                throw new IllegalArgumentException(type + " is no record and has no schema");
            }
        }
        return reference(name);
    }

    private void fill(ObjectNode schema, Class<?> type) {
        schema.setAll(object());
        describe(schema, type);
        addMembers(schema.putObject("properties"), schema.putArray("required"), type);
    }

    private void addMembers(ObjectNode properties, ArrayNode required, Class<?> type) {
        for (RecordComponent member : type.getRecordComponents()) {
            if (member.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
                addMembers(properties, required, member.getType());
                continue;
            }
            JsonProperty renamed = member.getAccessor().getAnnotation(JsonProperty.class);
            String name = renamed == null ? ViewJson.memberName(member.getName()) : renamed.value();
            boolean canBeAbsent = member.getAccessor().isAnnotationPresent(JsonInclude.class);
            ObjectNode value = schemaOf(member.getAnnotatedType());
            describe(value, member);
            properties.set(name, !canBeAbsent && isNullable(member.getAnnotatedType()) ? nullable(value) : value);
            if (!canBeAbsent) {
                required.add(name);
            }
        }
    }

    private static boolean isNullable(AnnotatedType type) {
        return type.isAnnotationPresent(Nullable.class);
    }

    private ObjectNode schemaOf(AnnotatedType annotated) {
        Type type = annotated.getType();
        if (type instanceof ParameterizedType generic && annotated instanceof AnnotatedParameterizedType arguments) {
            AnnotatedType last =
                    List.of(arguments.getAnnotatedActualTypeArguments()).getLast();
            ObjectNode inner = isNullable(last) ? nullable(schemaOf(last)) : schemaOf(last);
            if (generic.getRawType() == List.class) {
                ObjectNode list = text("array");
                list.set("items", inner);
                return list;
            }
            if (generic.getRawType() == Optional.class) {
                return nullable(inner);
            }
            if (generic.getRawType() == Map.class) {
                ObjectNode map = object();
                map.set("additionalProperties", inner);
                return map;
            }
            if (generic.getRawType() == Page.class && last.getType() instanceof Class<?> row) {
                return reference(row, true);
            }
        }
        if (type instanceof Class<?> plain) {
            return schemaOf(plain);
        }
        throw new IllegalArgumentException(type + " has no schema");
    }

    private ObjectNode schemaOf(Class<?> type) {
        if (type == String.class) {
            return text("string");
        }
        if (type == Instant.class) {
            return text("string").put("format", "date-time");
        }
        if (type == boolean.class || type == Boolean.class) {
            return text("boolean");
        }
        if (type == int.class || type == long.class || type == Integer.class || type == Long.class) {
            return text("integer");
        }
        if (type == double.class || type == Double.class) {
            return text("number");
        }
        if (type == JsonNode.class) {
            return JsonNodeFactory.instance.objectNode(); // any value
        }
        if (type == ObjectNode.class) {
            return object().put("additionalProperties", true);
        }
        if (type.isEnum()) {
            ObjectNode schema = text("string");
            ArrayNode words = schema.putArray("enum");
            for (Object word : type.getEnumConstants()) {
                words.add(((Enum<?>) word).name().toLowerCase(Locale.ROOT));
            }
            return schema;
        }
        return named(type);
    }

    /** Also allows null. A reference and an enum need a second case, since code generators ignore a null among them. */
    private static ObjectNode nullable(ObjectNode schema) {
        JsonNode type = schema.path("type");
        if (type.isString() && !schema.has("enum")) {
            schema.putArray("type").add(type.stringValue()).add("null");
            return schema;
        }
        if (schema.isEmpty() || schema.size() == 1 && schema.has("description")) {
            return schema;
        }
        ObjectNode either = JsonNodeFactory.instance.objectNode();
        if (schema.has("description")) {
            either.set("description", schema.remove("description"));
        }
        either.putArray("oneOf").add(schema).add(text("null"));
        return either;
    }

    private static void describe(ObjectNode schema, AnnotatedElement element) {
        Described about = element.getAnnotation(Described.class);
        if (about == null) {
            return;
        }
        if (!about.value().isEmpty()) {
            schema.put("description", about.value());
        }
        if (!about.example().isEmpty()) {
            schema.putArray("examples").add(exampleOf(schema, about.example()));
        }
        if (!about.pattern().isEmpty()) {
            schema.put("pattern", about.pattern());
        }
        if (about.oneOf().length > 0) {
            Arrays.stream(about.oneOf()).forEach(schema.putArray("enum")::add);
        }
        if (about.min() != Long.MIN_VALUE) {
            schema.put("minimum", about.min());
        }
        if (about.max() != Long.MAX_VALUE) {
            schema.put("maximum", about.max());
        }
        if (about.maxItems() != Integer.MAX_VALUE) {
            schema.put("maxItems", about.maxItems());
        }
    }

    private static JsonNode exampleOf(ObjectNode schema, String text) {
        return schema.path("type").asString("").equals("string")
                ? JsonNodeFactory.instance.stringNode(text)
                : StrictJsonCodec.parse(text);
    }

    private static ObjectNode object() {
        return text("object");
    }

    private static ObjectNode text(String type) {
        return JsonNodeFactory.instance.objectNode().put("type", type);
    }
}
