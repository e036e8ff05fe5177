package dev.semel.server.files.expressions;

import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.json.StrictJsonCodec;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Evaluated once, from the outside in. Results are data: `${` in a result is never evaluated again. */
public sealed interface YamlValueTemplate {
    JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size);

    /**
     * Like {@link #evaluate}, for a key or another identifier: a number becomes its canonical text, so that 100, 100.0
     * and 1e2 identify the same action.
     */
    default JsonNode evaluateIdentifier(ExpressionScope scope, StepResultSizeLimit size) {
        JsonNode value = evaluate(scope, size);
        return value.isNumber() ? JsonNodeFactory.instance.stringNode(CanonicalJsonWriter.text(value)) : value;
    }

    /** All expressions inside, in the order of the file. */
    Stream<WorkflowExpression> expressions();

    default Stream<ExpressionFieldPath> readPaths() {
        return expressions().flatMap(expression -> expression.readPaths().stream());
    }

    public record Literal(JsonNode value) implements YamlValueTemplate {
        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            return size.count(value);
        }

        @Override
        public Stream<WorkflowExpression> expressions() {
            return Stream.empty();
        }
    }

    /** A value that is one single expression; the result keeps its type. */
    public record SingleExpression(WorkflowExpression expression) implements YamlValueTemplate {
        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            return expression.evaluate(scope, size);
        }

        @Override
        public Stream<WorkflowExpression> expressions() {
            return Stream.of(expression);
        }
    }

    /** Text with expressions inside; each result is converted to text. */
    record InterpolatedText(List<YamlValueTemplate> parts) implements YamlValueTemplate {
        public InterpolatedText {
            parts = List.copyOf(parts);
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            return evaluate(scope, size, StrictJsonCodec::write);
        }

        @Override
        public JsonNode evaluateIdentifier(ExpressionScope scope, StepResultSizeLimit size) {
            return evaluate(scope, size, CanonicalJsonWriter::text);
        }

        private JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size, Function<JsonNode, String> writer) {
            var text = new StringBuilder();
            for (YamlValueTemplate part : parts) {
                text.append(asText(part.evaluate(scope, size), writer));
            }
            return JsonNodeFactory.instance.stringNode(text.toString());
        }

        /** Null fails, because "Dear null" is never intended. */
        private static String asText(JsonNode value, Function<JsonNode, String> writer) {
            if (value.isNull()) {
                throw new ExpressionEvaluationException(
                        "an expression inside text returned null (use default(value, \"…\") to replace it)");
            }
            return value.isString() ? value.stringValue() : writer.apply(value);
        }

        @Override
        public Stream<WorkflowExpression> expressions() {
            return parts.stream().flatMap(YamlValueTemplate::expressions);
        }
    }

    record MapTemplate(Map<String, YamlValueTemplate> members) implements YamlValueTemplate {
        public MapTemplate {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            var object = JsonNodeFactory.instance.objectNode();
            members.forEach((name, value) -> {
                size.addText(name);
                object.set(name, value.evaluate(scope, size));
            });
            return object;
        }

        @Override
        public Stream<WorkflowExpression> expressions() {
            return members.values().stream().flatMap(YamlValueTemplate::expressions);
        }
    }

    record ListTemplate(List<YamlValueTemplate> items) implements YamlValueTemplate {
        public ListTemplate {
            items = List.copyOf(items);
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            var array = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> array.add(item.evaluate(scope, size)));
            return array;
        }

        @Override
        public Stream<WorkflowExpression> expressions() {
            return items.stream().flatMap(YamlValueTemplate::expressions);
        }
    }
}
