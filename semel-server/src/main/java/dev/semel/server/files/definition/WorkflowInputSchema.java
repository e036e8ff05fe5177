package dev.semel.server.files.definition;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Validates the `data` of a trigger against the JSON Schema (2020-12) of its workflow.
 *
 * <p>Fields that the file does not declare are allowed, so that a new field of a sender breaks no workflow.
 *
 * @param schema null if the file declares no input
 * @param document the JSON Schema; empty if the file declares no input
 * @param declared declared field names; empty if the file declares no input
 */
record WorkflowInputSchema(
        @Nullable Schema schema, ObjectNode document, Set<String> declared, Set<String> search, Set<String> pii) {
    static final WorkflowInputSchema NONE =
            new WorkflowInputSchema(null, JsonNodeFactory.instance.objectNode(), Set.of(), Set.of(), Set.of());
    private static final int MOST_REPORTED = 50;

    static WorkflowInputSchema of(ObjectNode schema, Set<String> declared, Set<String> search, Set<String> pii) {
        SchemaRegistry registry = SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12,
                builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)));
        return new WorkflowInputSchema(registry.getSchema(schema), schema, declared, search, pii);
    }

    void validate(String workflow, JsonNode data) {
        if (schema == null) {
            return;
        }
        List<Error> errors = schema.validate(data);
        if (errors.isEmpty()) {
            return;
        }
        List<Map<String, Object>> members = errors.stream()
                .limit(MOST_REPORTED)
                .map(error -> Map.<String, Object>of("pointer", pointer(error), "message", message(error)))
                .distinct()
                .toList();
        String first = "%s %s"
                .formatted(members.getFirst().get("pointer"), members.getFirst().get("message"));
        String more = members.size() == 1 ? "" : " (and %d more)".formatted(members.size() - 1);
        throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The data does not match the input of workflow '%s': %s%s. No run was started; the key is still unused."
                                .formatted(workflow, first.strip(), more),
                        "Correct the data and send it again. You can use the same key.")
                .with("errors", members);
    }

    private static String pointer(Error error) {
        // Relative to the root of the request body, like every pointer in a problem.
        var path = new StringBuilder("/data");
        for (int i = 0; i < error.getInstanceLocation().getNameCount(); i++) {
            path.append('/').append(escaped(error.getInstanceLocation().getName(i)));
        }
        boolean missing = "required".equals(error.getKeyword());
        return missing
                ? path.append('/')
                        .append(escaped(String.valueOf(error.getProperty())))
                        .toString()
                : path.toString();
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }

    /** Built from the schema and types only, because the validator's message may quote the value. */
    private static String message(Error error) {
        JsonNode rule = error.getSchemaNode();
        return switch (String.valueOf(error.getKeyword())) {
            case "required" -> "is missing";
            case "type" ->
                "must be of type %s, but is %s"
                        .formatted(rule.asString(), JsonValueTypeNames.nameOf(error.getInstanceNode()));
            case "enum" -> "must be one of " + StrictJsonCodec.write(rule);
            default -> "violates the rule '%s'".formatted(error.getKeyword());
        };
    }
}
