package dev.semel.json;

import java.math.BigDecimal;
import tools.jackson.databind.JsonNode;

/** Exponents are never expanded: 1e1000000000 stays one digit and an exponent. */
public final class JsonNumberToDecimalConverter {
    private JsonNumberToDecimalConverter() {}

    /** The text with every digit. A binary fraction becomes its shortest decimal, as usual in JSON. */
    static String text(JsonNode number) {
        return switch (number.numberType()) {
            case INT, LONG -> Long.toString(number.longValue());
            case BIG_INTEGER -> number.bigIntegerValue().toString();
            case FLOAT, DOUBLE, BIG_DECIMAL -> exact(number).toString();
        };
    }

    /** The value that {@link #text} writes. */
    public static BigDecimal exact(JsonNode number) {
        BigDecimal value = switch (number.numberType()) {
            case INT, LONG -> BigDecimal.valueOf(number.longValue());
            case BIG_INTEGER -> new BigDecimal(number.bigIntegerValue());
            // FloatNode.decimalValue would widen to double first and add digits.
            case FLOAT -> finite(number, Float.toString(number.floatValue()));
            case DOUBLE -> finite(number, Double.toString(number.doubleValue()));
            case BIG_DECIMAL -> number.decimalValue();
        };
        if (Math.abs((long) value.scale()) > StrictJsonCodec.MAX_SCALE) {
            throw InvalidJsonErrorFactory.unwritable(
                    "the exponent of a number is outside the range of ±" + StrictJsonCodec.MAX_SCALE);
        }
        return value;
    }

    private static BigDecimal finite(JsonNode number, String text) {
        if (!Double.isFinite(number.doubleValue())) {
            throw InvalidJsonErrorFactory.unwritable("NaN and Infinity are not JSON numbers");
        }
        return new BigDecimal(text);
    }
}
