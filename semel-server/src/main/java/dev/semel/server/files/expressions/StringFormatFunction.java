package dev.semel.server.files.expressions;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.values.NullValue;
import dev.semel.idempotency.CanonicalJsonWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Implements the `format()` expression function, such as `format("%s: %d of %.2f", a, b, c)`, independent of the
 * locale.
 *
 * <p>`%s` takes any value but null, `%d` a whole number (`%05d` pads with zeros), `%.2f` a number with that many
 * decimals; `%%` is a percent sign.
 */
final class StringFormatFunction {
    private static final Pattern PLACE = Pattern.compile("%(?:(%)|(s)|0([1-9][0-9]?)d|(d)|\\.([0-9])f)?");

    /** Longer than any amount or count; it rejects numbers such as 1e2000000. */
    private static final int MOST_DIGITS = 400;

    private StringFormatFunction() {}

    /** Returns what is wrong with a format text and its number of values; null if it is valid. */
    static @Nullable String findProblem(String text, int values) {
        int places = 0;
        Matcher place = PLACE.matcher(text);
        while (place.find()) {
            if (place.end() == place.start() + 1) {
                return "in format(), a % must be followed by s, d, 05d (with a width), .2f (with a precision) or %";
            }
            places += place.group(1) == null ? 1 : 0;
        }
        return places == values
                ? null
                : "format() has %d placeholders and %d values; write one value for each placeholder"
                        .formatted(places, values);
    }

    static String format(String text, List<?> values) {
        ExpressionEvaluationBudget.spend(text.length());
        var filled = new StringBuilder();
        Matcher place = PLACE.matcher(text);
        int next = 0;
        int from = 0;
        while (place.find()) {
            filled.append(text, from, place.start());
            from = place.end();
            if (place.group(1) != null) {
                filled.append('%');
                continue;
            }
            String shown = shown(place, values.get(next), ++next);
            ExpressionEvaluationBudget.spend(shown.length());
            filled.append(shown);
        }
        return filled.append(text, from, text.length()).toString();
    }

    private static String shown(Matcher place, Object value, int n) {
        if (value instanceof NullValue) {
            throw new ExpressionEvaluationException(
                    "value %d of format() is null (use default(value, …) to replace it)".formatted(n));
        }
        if (place.group(2) != null) {
            return value instanceof String text
                    ? text
                    : CanonicalJsonWriter.text(CelJsonConverter.toJson(value, new StepResultSizeLimit()));
        }
        BigDecimal number = number(value);
        boolean fraction = number != null && number.stripTrailingZeros().scale() > 0;
        if (number == null || (place.group(5) == null && fraction)) {
            throw new ExpressionEvaluationException(
                    "value %d of format() is not a %snumber".formatted(n, place.group(5) == null ? "whole " : ""));
        }
        if (place.group(5) != null) {
            return number.setScale(Integer.parseInt(place.group(5)), RoundingMode.HALF_UP)
                    .toPlainString();
        }
        return padded(number.toBigInteger(), place.group(3) == null ? 0 : Integer.parseInt(place.group(3)));
    }

    private static String padded(BigInteger number, int width) {
        String sign = number.signum() < 0 ? "-" : "";
        String digits = number.abs().toString();
        return sign + "0".repeat(Math.max(0, width - sign.length() - digits.length())) + digits;
    }

    /** Null if it is not a number, not finite or too long to print. */
    private static @Nullable BigDecimal number(Object value) {
        BigDecimal number = switch (value) {
            case Long whole -> BigDecimal.valueOf(whole);
            case UnsignedLong whole -> new BigDecimal(whole.bigIntegerValue());
            case Double part when Double.isFinite(part) -> BigDecimal.valueOf(part);
            case CelJsonConverter.ExactNumber(var node) -> node.decimalValue();
            default -> null;
        };
        boolean small = number != null
                && Math.abs((long) number.precision() - number.scale()) < MOST_DIGITS
                && number.scale() < MOST_DIGITS;
        return small ? number : null;
    }
}
