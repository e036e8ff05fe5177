package dev.semel.server.files.yaml;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Parses plain YAML 1.2 scalars by the core schema: `no`, `on`, `1_000`, `12:30` and dates are text, `0o7` and `0xff`
 * are numbers.
 *
 * <p>The table is short and written out here, because each surprise in it would be a bug in a workflow file.
 */
public final class YamlScalarParser {
    /** Parsing time grows with the square of the length, and no file needs longer numbers. */
    static final int LONGEST_NUMBER = 100;

    private static final int LARGEST_EXPONENT = 400;
    private static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]+");
    private static final Pattern OCTAL = Pattern.compile("0o[0-7]+");
    private static final Pattern HEXADECIMAL = Pattern.compile("0x[0-9a-fA-F]+");
    private static final Pattern DECIMAL =
            Pattern.compile("[-+]?(?:\\.[0-9]+|[0-9]+(?:\\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?");
    private static final Pattern NOT_FINITE = Pattern.compile("[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");

    private YamlScalarParser() {}

    /** A number that JSON or the size limits cannot hold; the message is for the author of the file. */
    static final class UnsupportedNumber extends Exception {
        UnsupportedNumber(String message) {
            super(message, null, false, false);
        }
    }

    static JsonNode parse(String text) throws UnsupportedNumber {
        JsonNodeFactory json = JsonNodeFactory.instance;
        return switch (text) {
            case "", "~", "null", "Null", "NULL" -> json.nullNode();
            case "true", "True", "TRUE" -> json.booleanNode(true);
            case "false", "False", "FALSE" -> json.booleanNode(false);
            default -> number(text);
        };
    }

    private static JsonNode number(String text) throws UnsupportedNumber {
        if (NOT_FINITE.matcher(text).matches()) {
            throw new UnsupportedNumber("infinity and NaN are not JSON numbers; to write them as text, use quotes");
        }
        boolean octal = OCTAL.matcher(text).matches();
        boolean hexadecimal = HEXADECIMAL.matcher(text).matches();
        boolean integer = INTEGER.matcher(text).matches();
        if (!octal && !hexadecimal && !integer && !DECIMAL.matcher(text).matches()) {
            return JsonNodeFactory.instance.stringNode(text);
        }
        if (text.length() > LONGEST_NUMBER) {
            throw new UnsupportedNumber(
                    "a number may have at most " + LONGEST_NUMBER + " characters; to write it as text, use quotes");
        }
        if (octal || hexadecimal) {
            return integer(new BigInteger(text.substring(2), octal ? 8 : 16));
        }
        return integer ? integer(new BigInteger(text)) : decimal(text);
    }

    private static JsonNode decimal(String text) throws UnsupportedNumber {
        BigDecimal value;
        try {
            value = new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw new UnsupportedNumber("the exponent of this number is out of range");
        }
        if (Math.abs((long) value.precision() - value.scale()) > LARGEST_EXPONENT) {
            throw new UnsupportedNumber("the exponent of this number is out of range");
        }
        return JsonNodeFactory.instance.numberNode(value);
    }

    /** The smallest node type that can hold the number, as a JSON parser chooses it. */
    public static JsonNode integer(BigInteger value) {
        if (value.bitLength() < Integer.SIZE) {
            return JsonNodeFactory.instance.numberNode(value.intValue());
        }
        return value.bitLength() < Long.SIZE
                ? JsonNodeFactory.instance.numberNode(value.longValue())
                : JsonNodeFactory.instance.numberNode(value);
    }
}
