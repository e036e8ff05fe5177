package dev.semel.server.files.definition;

import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

final class YamlInputSchemaReader {
    private static final Set<String> KNOWN =
            Set.of("type", "required", "enum", "search", "pii", "title", "description");
    private static final Set<String> NOT_YET =
            Set.of("default", "of", "pattern", "format", "minimum", "maximum", "items", "properties");
    private static final List<String> TYPES = List.of("string", "integer", "number", "boolean", "object", "array");
    private static final int MOST_FIELDS = 200;

    private final YamlFileErrorCollector problems;
    private final ObjectNode properties = JsonNodeFactory.instance.objectNode();
    private final Set<String> required = new LinkedHashSet<>();
    private final Set<String> search = new LinkedHashSet<>();
    private final Set<String> pii = new LinkedHashSet<>();

    YamlInputSchemaReader(YamlFileErrorCollector problems) {
        this.problems = problems;
    }

    WorkflowInputSchema read(@Nullable YamlNode section) {
        YamlMapReader fields = YamlMapReader.of(section, "input", problems);
        if (fields == null) {
            return WorkflowInputSchema.NONE;
        }
        if (fields.map().members().size() > MOST_FIELDS) {
            problems.add(fields.range(), "input may declare at most %d fields.".formatted(MOST_FIELDS));
            return WorkflowInputSchema.NONE;
        }
        fields.map().members().forEach((name, member) -> properties.set(name, field(name, member)));
        ObjectNode schema = JsonNodeFactory.instance.objectNode();
        schema.put("type", "object").set("properties", properties);
        var names = schema.putArray("required");
        required.forEach(names::add);
        return WorkflowInputSchema.of(
                schema, new LinkedHashSet<>(fields.map().members().keySet()), search, pii);
    }

    private ObjectNode field(String name, YamlNode.MapEntry member) {
        ObjectNode rule = JsonNodeFactory.instance.objectNode();
        // `name: string` is short for `name: { type: string }`.
        if (member.value() instanceof YamlNode.ScalarNode(YamlSourceRange spot, JsonNode type) && type.isString()) {
            type(spot, type.stringValue(), rule);
            return rule;
        }
        YamlMapReader fields =
                YamlMapReader.of(member.value(), "input." + MisspelledNameSuggester.shorten(name), problems);
        if (fields == null) {
            return rule;
        }
        fields.allowOnly(KNOWN, NOT_YET);
        String type = fields.text("type");
        YamlNode typeTree = fields.get("type");
        if (type != null && typeTree != null) {
            type(typeTree.range(), type, rule);
        }
        fields.text("title");
        fields.text("description");
        mark(fields, "required", name, required);
        mark(fields, "search", name, search);
        mark(fields, "pii", name, pii);
        choices(fields, rule);
        return rule;
    }

    private static void mark(YamlMapReader fields, String flag, String name, Set<String> marked) {
        if (fields.flag(flag, false)) {
            marked.add(name);
        }
    }

    private void type(YamlSourceRange spot, String type, ObjectNode rule) {
        if (TYPES.contains(type)) {
            rule.put("type", type);
            return;
        }
        String meant = type.equals("list") ? " Did you mean 'array'?" : MisspelledNameSuggester.didYouMean(type, TYPES);
        problems.add(spot, "type must be one of %s.%s".formatted(String.join(", ", TYPES), meant));
    }

    private void choices(YamlMapReader fields, ObjectNode rule) {
        List<YamlNode> choices = fields.items("enum");
        if (fields.get("enum") instanceof YamlNode.ListNode list && choices.isEmpty()) {
            problems.add(list.range(), "enum must have at least one value.");
        }
        if (choices.isEmpty()) {
            return;
        }
        var values = rule.putArray("enum");
        for (YamlNode choice : choices) {
            JsonNode value = choice.toJson();
            if (!fits(value, rule.path("type").asString(""))) {
                problems.add(
                        choice.range(),
                        "this enum value is not of the declared type %s."
                                .formatted(rule.path("type").asString()));
            }
            values.add(value);
        }
    }

    private static boolean fits(JsonNode value, String type) {
        return switch (type) {
            case "string" -> value.isString();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            default -> true;
        };
    }
}
