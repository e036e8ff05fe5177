package dev.semel.server.files.definition;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.files.steps.flow.YamlStepReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
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
 * under `kind_…` and `field_…`, and rules between the fields of a step under `rule_…`. Every file that the reader
 * accepts matches the schema. Whatever the reader rejects by its structure does not match; the texts inside, such as
 * expressions, cron rules and SQL, only the reader checks.
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
        ObjectNode step = parts.putObject("step").put("type", "object");
        Set<String> known = new TreeSet<>(YamlStepReader.commonFields());
        ArrayNode named = step.putArray("anyOf");
        ArrayNode choices = step.putArray("allOf");
        kinds.forEach((word, fields) -> {
            parts.set("step_" + word, step(parts, word, fields));
            named.addObject().putArray("required").add(word);
            ObjectNode choice = choices.addObject();
            ObjectNode condition = choice.putObject("if");
            condition.putArray("required").add(word);
            notField(condition, word, kinds);
            choice.putObject("then").put("$ref", "#/$defs/step_" + word);
            known.add(word);
            known.addAll(fields);
        });
        // Errors then name a misspelt kind, and a file with two kinds does not match the first of them.
        known.forEach(step.putObject("propertyNames").putArray("enum")::add);
        return schema;
    }

    /** A kind can be a field of another kind: `digest` has `send`. */
    private static void notField(ObjectNode condition, String word, Map<String, Set<String>> kinds) {
        List<String> owners = kinds.keySet().stream()
                .filter(other -> kinds.getOrDefault(other, Set.of()).contains(word))
                .toList();
        if (!owners.isEmpty()) {
            ArrayNode any = condition.putObject("not").putArray("anyOf");
            owners.forEach(owner -> any.addObject().putArray("required").add(owner));
        }
    }

    private static ObjectNode step(ObjectNode parts, String word, Set<String> fields) {
        ObjectNode step = StrictJsonCodec.parse("{\"type\":\"object\"}").asObject();
        ObjectNode properties = step.putObject("properties");
        value(parts, properties, word, "kind_" + word);
        Set<String> all = new TreeSet<>(fields);
        all.addAll(YamlStepReader.commonFields());
        all.forEach(name -> {
            String own = "field_" + word + "_" + name;
            value(parts, properties, name, parts.has(own) ? own : "field_" + name);
        });
        step.putArray("required").add("id").add(word);
        ArrayNode rules = step.putArray("allOf");
        if (fields.contains("protect")) {
            rules.addObject().put("$ref", "#/$defs/rule_protect");
        }
        if (parts.has("rule_" + word)) {
            rules.addObject().put("$ref", "#/$defs/rule_" + word);
        }
        if (rules.isEmpty()) {
            step.remove("allOf");
        }
        return step.put("additionalProperties", false);
    }

    private static void value(ObjectNode parts, ObjectNode properties, String name, String part) {
        if (parts.has(part)) {
            properties.putObject(name).put("$ref", "#/$defs/" + part);
        } else {
            properties.putObject(name); // not `true`: editors offer only properties with an object
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
