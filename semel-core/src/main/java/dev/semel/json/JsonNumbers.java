package dev.semel.json;

import java.math.BigDecimal;
import tools.jackson.databind.JsonNode;

/** Numbers by their exact decimal value. Never expanded: 1e1000000000 stays one digit and an exponent. */
public final class JsonNumbers {
    private JsonNumbers() {}

    /** The text that keeps every digit. A binary fraction is the shortest decimal that names it, as everywhere in JSON. */
    static String text(JsonNode number) {
        return switch (number.numberType()) {
            case INT, LONG -> Long.toString(number.longValue());
            case BIG_INTEGER -> number.bigIntegerValue().toString();
            case FLOAT, DOUBLE, BIG_DECIMAL -> exact(number).toString();
        };
    }

    /** The value that {@link #text} names. */
    public static BigDecimal exact(JsonNode number) {
        BigDecimal value = switch (number.numberType()) {
            case INT, LONG -> BigDecimal.valueOf(number.longValue());
            case BIG_INTEGER -> new BigDecimal(number.bigIntegerValue());
            // FloatNode.decimalValue would widen to double first and show digits that nobody wrote.
            case FLOAT -> finite(number, Float.toString(number.floatValue()));
            case DOUBLE -> finite(number, Double.toString(number.doubleValue()));
            case BIG_DECIMAL -> number.decimalValue();
        };
        if (Math.abs((long) value.scale()) > Json.MAX_SCALE) {
            throw JsonProblem.unwritable("the exponent of a number is beyond " + Json.MAX_SCALE);
        }
        return value;
    }

    private static BigDecimal finite(JsonNode number, String text) {
        if (!Double.isFinite(number.doubleValue())) {
            throw JsonProblem.unwritable("NaN and Infinity are not JSON numbers");
        }
        return new BigDecimal(text);
    }
}
