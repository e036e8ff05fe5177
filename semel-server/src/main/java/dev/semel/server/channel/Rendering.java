package dev.semel.server.channel;

import java.math.BigDecimal;
import java.util.Currency;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;

/** Renders one part of a message template. Inserted values are never parsed as template code. */
final class Rendering {
    /** Most bytes of one rendered part in UTF-8. */
    static final int LONGEST = 1024 * 1024;

    /** Most loop iterations in one part. */
    static final int PASSES = 10_000;

    /** Most template nodes to process in one part. */
    static final int STEPS = 1_000_000;

    private static final int LONGEST_NUMBER = 100;
    private static final Pattern LINK = Pattern.compile("(?i)(https?://|mailto:|tel:).*", Pattern.DOTALL);

    private final Part part;
    private final JsonNode data;
    private final Map<String, JsonNode> items = new HashMap<>();
    private final StringBuilder out = new StringBuilder();
    private int bytes;
    private int passes;
    private int steps;

    private Rendering(Part part, JsonNode data) {
        this.part = part;
        this.data = data;
    }

    /** @throws Unfilled if a value is missing or has the wrong type */
    static String fill(Part part, List<Piece> pieces, JsonNode data) {
        var rendering = new Rendering(part, data);
        rendering.fill(pieces);
        return rendering.out.toString();
    }

    /** A value that could not be rendered. Names positions and variables of the template, never a value. */
    static final class Unfilled extends RuntimeException {
        private final @Nullable Place place;

        Unfilled(@Nullable Place place, String why) {
            super(why, null, false, false);
            this.place = place;
        }

        String why(Part part) {
            return (place == null ? part.word() : place.toString()) + ": " + getMessage();
        }
    }

    private void fill(List<Piece> pieces) {
        for (Piece piece : pieces) {
            if (++steps > STEPS) {
                throw new Unfilled(null, "the template has more than %d nodes to render".formatted(STEPS));
            }
            switch (piece) {
                case Piece.Words(String text) -> append(text, null);
                case Piece.Value value -> value(value);
                case Piece.If(var path, var then, var otherwise) -> fill(isTrue(find(path)) ? then : otherwise);
                case Piece.Each each -> each(each);
            }
        }
    }

    private void value(Piece.Value value) {
        JsonNode node = find(value.operand());
        for (Piece.Filter filter : value.filters()) {
            node = switch (filter) {
                case Piece.Filter.Default(Operand otherwise) -> isMissing(node) ? find(otherwise) : node;
                case Piece.Filter.Money(Operand currency) -> money(node, find(currency), value);
            };
        }
        write(node, value);
    }

    private void each(Piece.Each each) {
        JsonNode list = find(each.path());
        if (!list.isArray()) {
            throw new Unfilled(each.place(), "`%s` is %s, but must be a list".formatted(each.path(), kind(list)));
        }
        if (list.isEmpty()) {
            fill(each.otherwise());
            return;
        }
        JsonNode before = items.get(each.item());
        for (JsonNode item : list) {
            if (++passes > PASSES) {
                throw new Unfilled(each.place(), "the lists have more than %d items".formatted(PASSES));
            }
            items.put(each.item(), item);
            fill(each.body());
        }
        if (before == null) {
            items.remove(each.item());
        } else {
            items.put(each.item(), before);
        }
    }

    private JsonNode find(Operand operand) {
        return switch (operand) {
            case Operand.Literal(JsonNode value) -> value;
            case Operand.Path(List<String> names) -> {
                String first = names.getFirst();
                JsonNode at = items.containsKey(first) ? items.get(first) : data.path(first);
                for (String name : names.subList(1, names.size())) {
                    at = at.isArray() ? element(at, name) : at.path(name);
                }
                yield at;
            }
        };
    }

    private static JsonNode element(JsonNode list, String index) {
        return Character.isDigit(index.charAt(0)) ? list.path(Integer.parseInt(index)) : MissingNode.getInstance();
    }

    private static boolean isMissing(JsonNode value) {
        return value.isMissingNode() || value.isNull();
    }

    /** Missing, null, false, zero, empty text and empty list are false. */
    private static boolean isTrue(JsonNode value) {
        if (value.isBoolean()) {
            return value.booleanValue();
        }
        if (value.isNumber()) {
            return value.decimalValue().signum() != 0;
        }
        return value.isString() ? !value.stringValue().isEmpty() : !isMissing(value) && !value.isEmpty();
    }

    private void write(JsonNode node, Piece.Value value) {
        if (isMissing(node)) {
            throw new Unfilled(value.place(), "`%s` is missing".formatted(nameOf(value.operand())));
        }
        String text;
        if (node.isString()) {
            text = node.stringValue();
        } else if (node.isNumber()) {
            BigDecimal number = node.decimalValue();
            if (Math.abs((long) number.scale()) + number.precision() > LONGEST_NUMBER) {
                throw new Unfilled(
                        value.place(), "`%s` is a number with too many digits".formatted(nameOf(value.operand())));
            }
            text = node.isIntegralNumber() ? number.toBigInteger().toString() : number.toPlainString();
        } else if (node.isBoolean()) {
            text = node.booleanValue() ? "true" : "false";
        } else {
            throw new Unfilled(
                    value.place(), "`%s` is %s, but must be text".formatted(nameOf(value.operand()), kind(node)));
        }
        if (value.link() && !LINK.matcher(text).matches()) {
            throw new Unfilled(
                    value.place(),
                    "`%s` begins a link, but its value does not start with https://, http://, mailto: or tel:"
                            .formatted(nameOf(value.operand())));
        }
        escape(text, value);
    }

    private void escape(String text, Piece.Value value) {
        var escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (part == Part.SUBJECT && Character.isISOControl(c)) {
                throw new Unfilled(
                        value.place(),
                        "`%s` contains a line break or a control character, but a subject must be one line"
                                .formatted(nameOf(value.operand())));
            }
            String instead = part.escaped(c);
            if (instead == null) {
                escaped.append(c);
            } else {
                escaped.append(instead);
            }
        }
        append(escaped.toString(), value.place());
    }

    private void append(String text, @Nullable Place place) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
            if (bytes > LONGEST) {
                throw new Unfilled(place, "the rendered text is longer than %d bytes".formatted(LONGEST));
            }
        }
        out.append(text);
    }

    /** The amount is in the smallest currency unit: 4900 and usd give `49.00 USD`. */
    private JsonNode money(JsonNode amount, JsonNode currency, Piece.Value value) {
        if (isMissing(amount)) {
            throw new Unfilled(value.place(), "`%s` is missing".formatted(nameOf(value.operand())));
        }
        if (!amount.isIntegralNumber() || !amount.canConvertToLong()) {
            throw new Unfilled(
                    value.place(),
                    "`%s` is not a whole number; money must be in the smallest unit, such as cents"
                            .formatted(nameOf(value.operand())));
        }
        try {
            Currency known = Currency.getInstance(
                    currency.isString() ? currency.stringValue().toUpperCase(Locale.ROOT) : "");
            int digits = Math.max(0, known.getDefaultFractionDigits());
            String text = BigDecimal.valueOf(amount.longValue(), digits).toPlainString();
            return JsonNodeFactory.instance.stringNode(text + " " + known.getCurrencyCode());
        } catch (IllegalArgumentException e) {
            throw new Unfilled(
                    value.place(), "the currency of `%s` is not an ISO 4217 code".formatted(nameOf(value.operand())));
        }
    }

    private static String nameOf(Operand operand) {
        return operand instanceof Operand.Path path ? path.toString() : "the literal";
    }

    private static String kind(JsonNode value) {
        return switch (value.getNodeType()) {
            case MISSING, NULL -> "missing";
            case ARRAY -> "a list";
            case OBJECT, POJO -> "an object";
            case STRING, BINARY -> "a text";
            case NUMBER -> "a number";
            case BOOLEAN -> "true or false";
        };
    }
}
