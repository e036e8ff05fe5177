package dev.semel.server.language;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.values.NullValue;
import dev.semel.json.Json;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * `format("%s: %d of %.2f", a, b, c)`: the places of a text, filled one after the other, the same in every locale. `%s` takes
 * anything but null, `%d` a whole number (`%05d` with zeros in front), `%.2f` a number with so many digits behind the
 * point; `%%` is a per cent sign.
 */
final class Format {
    private static final Pattern PLACE = Pattern.compile("%(?:(%)|(s)|0([1-9][0-9]?)d|(d)|\\.([0-9])f)?");

    /** No amount of money and no count of anything is longer; a number such as 1e2000000 is. */
    private static final int MOST_DIGITS = 400;

    private Format() {}

    /** What is wrong with a text and the number of its values; null where they fit. */
    static @Nullable String problem(String text, int values) {
        int places = 0;
        Matcher place = PLACE.matcher(text);
        while (place.find()) {
            if (place.end() == place.start() + 1) {
                return "after % in format() comes s, d, 05d for a width, .2f for a precision, or %";
            }
            places += place.group(1) == null ? 1 : 0;
        }
        return places == values ? null : "format() has %d places and %d values".formatted(places, values);
    }

    static String fill(String text, List<?> values) {
        Budget.spend(text.length());
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
            Budget.spend(shown.length());
            filled.append(shown);
        }
        return filled.append(text, from, text.length()).toString();
    }

    private static String shown(Matcher place, Object value, int n) {
        if (value instanceof NullValue) {
            throw new Failure("value %d of format() is null (default(value, …) replaces it)".formatted(n));
        }
        if (place.group(2) != null) {
            return value instanceof String text ? text : Json.write(Values.toJson(value, new ResultSize()));
        }
        BigDecimal number = number(value);
        boolean part =
                value instanceof Double || (value instanceof Values.ExactNumber(var node) && !node.isIntegralNumber());
        if (number == null || (place.group(5) == null && part)) {
            throw new Failure(
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

    /** Null where it is none, is not finite, or would fill pages. */
    private static @Nullable BigDecimal number(Object value) {
        BigDecimal number = switch (value) {
            case Long whole -> BigDecimal.valueOf(whole);
            case UnsignedLong whole -> new BigDecimal(whole.bigIntegerValue());
            case Double part when Double.isFinite(part) -> BigDecimal.valueOf(part);
            case Values.ExactNumber(var node) -> node.decimalValue();
            default -> null;
        };
        boolean small = number != null
                && Math.abs((long) number.precision() - number.scale()) < MOST_DIGITS
                && number.scale() < MOST_DIGITS;
        return small ? number : null;
    }
}
