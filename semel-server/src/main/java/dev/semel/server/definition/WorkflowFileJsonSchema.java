package dev.semel.server.definition;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.steps.YamlStepReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Provides the JSON Schema of workflow files, for editors.
 *
 * <p>The fields of each step kind come from the reader, so the two cannot differ; the value shapes are in the resource,
 * under `kind_…` and `field_…`. Every file that the reader accepts matches the schema; the reader may still reject a
 * file that matches.
 */
public final class WorkflowFileJsonSchema {
    private static final String RESOURCE = "/dev/semel/server/workflow-1.json";

    private WorkflowFileJsonSchema() {}

    /** Builds the schema on first use. */
    private static final class SchemaHolder {
        static final ObjectNode SCHEMA = assembled();
    }

    /** The schema (draft 2020-12). Callers must not modify the array. */
    public static byte[] bytes() {
        return StrictJsonCodec.bytes(SchemaHolder.SCHEMA);
    }

    static ObjectNode schema() {
        return SchemaHolder.SCHEMA.deepCopy();
    }

    private static ObjectNode assembled() {
        ObjectNode schema = (ObjectNode) StrictJsonCodec.parse(resource());
        ObjectNode parts = (ObjectNode) schema.required("$defs");
        Map<String, Set<String>> kinds = new TreeMap<>(YamlStepReader.kinds());
        ArrayNode choices = parts.putObject("step").putArray("oneOf");
        kinds.forEach((word, fields) -> {
            parts.set("step_" + word, step(parts, word, fields));
            choices.addObject().put("$ref", "#/$defs/step_" + word);
        });
        return schema;
    }

    private static ObjectNode step(ObjectNode parts, String word, Set<String> fields) {
        ObjectNode step = StrictJsonCodec.parse("{\"type\":\"object\"}").asObject();
        ObjectNode properties = step.putObject("properties");
        new TreeSet<>(YamlStepReader.commonFields()).forEach(name -> value(parts, properties, name, "field_" + name));
        value(parts, properties, word, "kind_" + word);
        new TreeSet<>(fields).forEach(name -> {
            String own = "field_" + word + "_" + name;
            value(parts, properties, name, parts.has(own) ? own : "field_" + name);
        });
        step.putArray("required").add("id").add(word);
        return step.put("additionalProperties", false);
    }

    private static void value(ObjectNode parts, ObjectNode properties, String name, String part) {
        if (parts.has(part)) {
            properties.putObject(name).put("$ref", "#/$defs/" + part);
        } else {
            properties.put(name, true);
        }
    }

    private static byte[] resource() {
        try (InputStream in = WorkflowFileJsonSchema.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is missing in the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(RESOURCE + " cannot be read", e);
        }
    }
}
