package dev.semel.server.language;

import dev.semel.json.Json;
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
public sealed interface Template {
    JsonNode fill(Scope scope, ResultSize size);

    /** All expressions inside, in the order of the file. */
    Stream<Expression> expressions();

    /** A constant value without expressions. */
    public record Literal(JsonNode value) implements Template {
        @Override
        public JsonNode fill(Scope scope, ResultSize size) {
            return size.counted(value);
        }

        @Override
        public Stream<Expression> expressions() {
            return Stream.empty();
        }
    }

    /** A value that is one single expression; the result keeps its type. */
    public record Whole(Expression expression) implements Template {
        @Override
        public JsonNode fill(Scope scope, ResultSize size) {
            return expression.evaluate(scope, size);
        }

        @Override
        public Stream<Expression> expressions() {
            return Stream.of(expression);
        }
    }

    /** Text with expressions inside; each result is converted to text. */
    record Text(List<Template> parts) implements Template {
        public Text {
            parts = List.copyOf(parts);
        }

        @Override
        public JsonNode fill(Scope scope, ResultSize size) {
            var text = new StringBuilder();
            for (Template part : parts) {
                text.append(asText(part.fill(scope, size)));
            }
            return JsonNodeFactory.instance.stringNode(text.toString());
        }

        /** Null fails, because "Dear null" is never intended. */
        private static String asText(JsonNode value) {
            if (value.isNull()) {
                throw new Failure("an expression inside text returned null (use default(value, \"…\") to replace it)");
            }
            return value.isString() ? value.stringValue() : Json.write(value);
        }

        @Override
        public Stream<Expression> expressions() {
            return parts.stream().flatMap(Template::expressions);
        }
    }

    /** A map whose values are templates. */
    record Members(Map<String, Template> members) implements Template {
        public Members {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Override
        public JsonNode fill(Scope scope, ResultSize size) {
            var object = JsonNodeFactory.instance.objectNode();
            members.forEach((name, value) -> {
                size.addText(name);
                object.set(name, value.fill(scope, size));
            });
            return object;
        }

        @Override
        public Stream<Expression> expressions() {
            return members.values().stream().flatMap(Template::expressions);
        }
    }

    /** A list whose items are templates. */
    record Items(List<Template> items) implements Template {
        public Items {
            items = List.copyOf(items);
        }

        @Override
        public JsonNode fill(Scope scope, ResultSize size) {
            var array = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> array.add(item.fill(scope, size)));
            return array;
        }

        @Override
        public Stream<Expression> expressions() {
            return items.stream().flatMap(Template::expressions);
        }
    }
}
