package dev.semel.server.files.expressions;

import dev.cel.common.values.NullValue;
import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.json.Sha256;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Currency;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Implements Semel's expression functions. All are pure, bounded and independent of locale and time zone. */
final class ExpressionFunctions {
    private static final int SHORT_HASH = 16;

    private ExpressionFunctions() {}

    static String lower(String text) {
        ExpressionEvaluationBudget.spend(text.length());
        return text.toLowerCase(Locale.ROOT);
    }

    static String trim(String text) {
        ExpressionEvaluationBudget.spend(text.length());
        return text.strip();
    }

    static String sha256(String text) {
        ExpressionEvaluationBudget.spend(text.length() + 64L);
        return Sha256.hex(text);
    }

    /** The first 64 bits of the SHA-256 digest: short, and still unique among millions of values. */
    static String shortHash(String text) {
        return sha256(text).substring(0, SHORT_HASH);
    }

    /** The canonical text of the fingerprint, so that equal numbers give equal keys. */
    static String numberText(Double number) {
        return CanonicalJsonWriter.text(CelJsonConverter.toJson(number, new StepResultSizeLimit()));
    }

    static String numberText(CelJsonConverter.ExactNumber number) {
        return CanonicalJsonWriter.text(number.node());
    }

    /** Canonical, so that equal values give equal texts and hashes. */
    static String json(Object value) {
        String text = CanonicalJsonWriter.text(CelJsonConverter.toJson(value, new StepResultSizeLimit()));
        ExpressionEvaluationBudget.spend(text.length());
        return text;
    }

    /** `money(4900, "usd")` is `49.00 USD`: the amount counts the smallest unit of the currency. */
    static String money(long amount, String currency) {
        try {
            Currency known = Currency.getInstance(currency.toUpperCase(Locale.ROOT));
            int digits = Math.max(0, known.getDefaultFractionDigits());
            return BigDecimal.valueOf(amount, digits).toPlainString() + " " + known.getCurrencyCode();
        } catch (IllegalArgumentException e) {
            throw new ExpressionEvaluationException("money() got a currency that is not in ISO 4217");
        }
    }

    /**
     * Joins the parts with `:` so that different parts never give the same key: other than plain visible characters are
     * written as `%XX`. An empty part fails, because all requests without that id would share one key.
     */
    static String key(List<?> parts) {
        var key = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            String part = switch (parts.get(i)) {
                case String text -> text;
                case Long number -> number.toString();
                case Double number -> numberText(number);
                case CelJsonConverter.ExactNumber number -> numberText(number);
                case Boolean bool -> bool.toString();
                case NullValue _ -> "";
                default ->
                    throw new ExpressionEvaluationException(
                            "part %d of key() is not text, a number or a boolean".formatted(i + 1));
            };
            if (part.isBlank()) {
                throw new ExpressionEvaluationException("part %d of key() is empty".formatted(i + 1));
            }
            ExpressionEvaluationBudget.spend(part.length());
            key.append(i == 0 ? "" : ":");
            escape(part, key);
        }
        return key.toString();
    }

    private static void escape(String part, StringBuilder key) {
        for (byte b : part.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = b > ' ' && b < 0x7f && b != '%' && b != ':' && b != '"';
            if (plain) {
                key.append((char) b);
            } else {
                key.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
    }

    /** The value at a path, or null if a part of it is missing; used by `default()`. */
    static Object find(@Nullable Object root, List<?> path) {
        Object at = root;
        for (Object part : path) {
            at = switch (at) {
                case Map<?, ?> map -> map.get(part);
                case List<?> list
                when part instanceof Long index && index >= 0 && index < list.size() -> list.get(index.intValue());
                case null, default -> null;
            };
        }
        return at == null ? NullValue.NULL_VALUE : at;
    }

    /** Whether there is a value at a path, which may be null; used by `has()`. */
    static Object exists(@Nullable Object root, List<?> path) {
        Object last = path.getLast();
        return switch (find(root, path.subList(0, path.size() - 1))) {
            case Map<?, ?> map -> map.containsKey(last);
            case List<?> list -> last instanceof Long index && index >= 0 && index < list.size();
            default -> false;
        };
    }

    static Object firstNonNull(Object value, Object otherwise) {
        return value instanceof NullValue ? otherwise : value;
    }
}
