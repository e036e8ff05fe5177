package dev.semel.server.files.expressions;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.values.NullValue;
import dev.semel.json.UnparsedJson;
import dev.semel.server.files.yaml.YamlScalarParser;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Converts JSON to CEL values and CEL results back to JSON.
 *
 * <p>Objects and arrays are views, so a large input costs nothing until it is read, and an unchanged value comes out as
 * the same node. A number that neither 64 bits nor a double can hold exactly can be copied and compared, but not used
 * in arithmetic.
 */
final class CelJsonConverter {
    private CelJsonConverter() {}

    static Object fromJson(JsonNode node) {
        return switch (node.getNodeType()) {
            case STRING -> node.stringValue();
            case BOOLEAN -> node.booleanValue();
            case NUMBER -> number(node);
            case OBJECT -> new ObjectView(node);
            case ARRAY -> new ArrayView(node);
            case POJO -> {
                JsonNode parsed = UnparsedJson.parse(node);
                yield parsed.isPojo() ? NullValue.NULL_VALUE : fromJson(parsed);
            }
            case NULL, MISSING, BINARY -> NullValue.NULL_VALUE;
        };
    }

    /** A view: a step's result is parsed when an expression reads it. */
    static Map<String, Object> fromSteps(Map<String, JsonNode> steps, Map<String, List<JsonNode>> cohortResults) {
        return new MemberView(steps, cohortResults);
    }

    private static Object number(JsonNode node) {
        if (node.isIntegralNumber()) {
            return node.canConvertToLong() ? (Object) node.longValue() : new ExactNumber(node);
        }
        if (!node.isBigDecimal()) {
            return node.doubleValue();
        }
        double value = node.decimalValue().doubleValue();
        boolean exact = Double.isFinite(value) && BigDecimal.valueOf(value).compareTo(node.decimalValue()) == 0;
        return exact ? (Object) value : new ExactNumber(node);
    }

    static JsonNode toJson(Object value, StepResultSizeLimit size) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        return switch (value) {
            case String text -> {
                size.addText(text);
                yield json.stringNode(text);
            }
            case Long number -> size.count(YamlScalarParser.integer(BigInteger.valueOf(number)));
            case Double number -> size.count(json.numberNode(finite(number)));
            case Boolean bool -> size.count(json.booleanNode(bool));
            case NullValue _ -> size.count(json.nullNode());
            case UnsignedLong number -> size.count(YamlScalarParser.integer(number.bigIntegerValue()));
            case ExactNumber number -> size.count(number.node());
            case ObjectView view -> size.count(UnparsedJson.parseAll(view.node));
            case ArrayView view -> size.count(UnparsedJson.parseAll(view.node));
            case Map<?, ?> map -> object(map, size);
            case List<?> list -> array(list, size);
            default -> throw new ExpressionEvaluationException("its result has a type that JSON does not support");
        };
    }

    private static double finite(double number) {
        if (!Double.isFinite(number)) {
            throw new ExpressionEvaluationException("its result is infinite or not a number");
        }
        return number;
    }

    private static JsonNode object(Map<?, ?> map, StepResultSizeLimit size) {
        var object = JsonNodeFactory.instance.objectNode();
        size.add(2);
        map.forEach((name, value) -> {
            if (!(name instanceof String text)) {
                throw new ExpressionEvaluationException("a map in its result has a key that is not text");
            }
            size.addText(text);
            object.set(text, toJson(value, size));
        });
        return object;
    }

    private static JsonNode array(List<?> list, StepResultSizeLimit size) {
        var array = JsonNodeFactory.instance.arrayNode();
        size.add(2);
        for (Object value : list) {
            array.add(toJson(value, size));
        }
        return array;
    }

    /** A number beyond 64 bits or double precision. Equal numbers are equal, however they are written. */
    record ExactNumber(JsonNode node) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof ExactNumber(JsonNode that)
                    && node.decimalValue().compareTo(that.decimalValue()) == 0;
        }

        @Override
        public int hashCode() {
            return node.decimalValue().stripTrailingZeros().hashCode();
        }
    }

    static final class ArrayView extends AbstractList<Object> {
        private final JsonNode node;

        ArrayView(JsonNode node) {
            this.node = node;
        }

        @Override
        public Object get(int index) {
            JsonNode item = node.get(index);
            if (item == null) {
                throw new IndexOutOfBoundsException(index);
            }
            return fromJson(item);
        }

        @Override
        public int size() {
            return node.size();
        }

        /** CEL puts values into its messages; this keeps data out of them. */
        @Override
        public String toString() {
            return "[…]";
        }
    }

    /** Results of steps by id. */
    static final class MemberView extends AbstractMap<String, Object> {
        private final Map<String, JsonNode> members;
        private final Map<String, List<JsonNode>> cohortResults;

        MemberView(Map<String, JsonNode> members, Map<String, List<JsonNode>> cohortResults) {
            this.members = members;
            this.cohortResults = cohortResults;
        }

        /** In the order in which the steps ran. */
        Set<String> names() {
            return members.keySet();
        }

        /** The results of the `cohort` steps in the result of a step, in the order in which they count. */
        List<JsonNode> cohortResults(String name) {
            return cohortResults.getOrDefault(name, List.of());
        }

        @Override
        public @Nullable Object get(@Nullable Object name) {
            JsonNode member = members.get(name);
            return member == null ? null : fromJson(member);
        }

        @Override
        public boolean containsKey(@Nullable Object name) {
            return members.containsKey(name);
        }

        @Override
        public int size() {
            return members.size();
        }

        @Override
        public String toString() {
            return "{…}";
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            return new AbstractSet<>() {
                @Override
                public Iterator<Entry<String, Object>> iterator() {
                    return members.entrySet().stream()
                            .map(member -> Map.entry(member.getKey(), fromJson(member.getValue())))
                            .iterator();
                }

                @Override
                public int size() {
                    return members.size();
                }
            };
        }
    }

    static final class ObjectView extends AbstractMap<String, Object> {
        private final JsonNode node;

        ObjectView(JsonNode node) {
            this.node = node;
        }

        @Override
        public @Nullable Object get(@Nullable Object name) {
            JsonNode member = name instanceof String text ? node.get(text) : null;
            return member == null ? null : fromJson(member);
        }

        @Override
        public boolean containsKey(@Nullable Object name) {
            return name instanceof String text && node.has(text);
        }

        @Override
        public int size() {
            return node.size();
        }

        @Override
        public String toString() {
            return "{…}";
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            return new AbstractSet<>() {
                @Override
                public Iterator<Entry<String, Object>> iterator() {
                    return node.properties().stream()
                            .map(member -> Map.entry(member.getKey(), fromJson(member.getValue())))
                            .iterator();
                }

                @Override
                public int size() {
                    return node.size();
                }
            };
        }
    }
}
