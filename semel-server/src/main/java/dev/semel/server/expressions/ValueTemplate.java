package dev.semel.server.expressions;

import dev.semel.json.StrictJson;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A value of a workflow file with its `${ … }` expressions compiled.
 *
 * <p>It is evaluated once, from the outside in. Results are data: `${` in a result is never evaluated again.
 */
public sealed interface ValueTemplate {
    JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size);

    /** All expressions inside, in the order of the file. */
    Stream<Expression> expressions();

    /** A constant value without expressions. */
    public record Literal(JsonNode value) implements ValueTemplate {
        @Override
        public JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size) {
            return size.count(value);
        }

        @Override
        public Stream<Expression> expressions() {
            return Stream.empty();
        }
    }

    /** A value that is one single expression; the result keeps its type. */
    public record SingleExpression(Expression expression) implements ValueTemplate {
        @Override
        public JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size) {
            return expression.evaluate(scope, size);
        }

        @Override
        public Stream<Expression> expressions() {
            return Stream.of(expression);
        }
    }

    /** Text with expressions inside; each result is converted to text. */
    record InterpolatedText(List<ValueTemplate> parts) implements ValueTemplate {
        public InterpolatedText {
            parts = List.copyOf(parts);
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size) {
            var text = new StringBuilder();
            for (ValueTemplate part : parts) {
                text.append(asText(part.evaluate(scope, size)));
            }
            return JsonNodeFactory.instance.stringNode(text.toString());
        }

        /** Null fails, because "Dear null" is never intended. */
        private static String asText(JsonNode value) {
            if (value.isNull()) {
                throw new EvaluationException(
                        "an expression inside text returned null (use default(value, \"…\") to replace it)");
            }
            return value.isString() ? value.stringValue() : StrictJson.write(value);
        }

        @Override
        public Stream<Expression> expressions() {
            return parts.stream().flatMap(ValueTemplate::expressions);
        }
    }

    /** A map whose values are templates. */
    record MapTemplate(Map<String, ValueTemplate> members) implements ValueTemplate {
        public MapTemplate {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size) {
            var object = JsonNodeFactory.instance.objectNode();
            members.forEach((name, value) -> {
                size.addText(name);
                object.set(name, value.evaluate(scope, size));
            });
            return object;
        }

        @Override
        public Stream<Expression> expressions() {
            return members.values().stream().flatMap(ValueTemplate::expressions);
        }
    }

    /** A list whose items are templates. */
    record ListTemplate(List<ValueTemplate> items) implements ValueTemplate {
        public ListTemplate {
            items = List.copyOf(items);
        }

        @Override
        public JsonNode evaluate(ExpressionScope scope, ResultSizeLimit size) {
            var array = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> array.add(item.evaluate(scope, size)));
            return array;
        }

        @Override
        public Stream<Expression> expressions() {
            return items.stream().flatMap(ValueTemplate::expressions);
        }
    }
}
