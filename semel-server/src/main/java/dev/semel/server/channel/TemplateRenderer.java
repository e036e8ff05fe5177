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
final class TemplateRenderer {
    /** Most bytes of one rendered part in UTF-8. */
    static final int LONGEST = 1024 * 1024;

    /** Most loop iterations in one part. */
    static final int MAX_ITERATIONS = 10_000;

    /** Most template nodes to process in one part. */
    static final int MAX_NODES = 1_000_000;

    private static final int LONGEST_NUMBER = 100;
    private static final Pattern LINK = Pattern.compile("(?i)(https?://|mailto:|tel:).*", Pattern.DOTALL);

    private final TemplatePart part;
    private final JsonNode data;
    private final Map<String, JsonNode> items = new HashMap<>();
    private final StringBuilder out = new StringBuilder();
    private int bytes;
    private int passes;
    private int steps;

    private TemplateRenderer(TemplatePart part, JsonNode data) {
        this.part = part;
        this.data = data;
    }

    /** @throws RenderFailure if a value is missing or has the wrong type */
    static String render(TemplatePart part, List<TemplateNode> pieces, JsonNode data) {
        var rendering = new TemplateRenderer(part, data);
        rendering.render(pieces);
        return rendering.out.toString();
    }

    /** A value that could not be rendered. Names positions and variables of the template, never a value. */
    static final class RenderFailure extends RuntimeException {
        private final @Nullable TemplatePosition place;

        RenderFailure(@Nullable TemplatePosition place, String why) {
            super(why, null, false, false);
            this.place = place;
        }

        String describe(TemplatePart part) {
            return (place == null ? part.memberName() : place.toString()) + ": " + getMessage();
        }
    }

    private void render(List<TemplateNode> pieces) {
        for (TemplateNode piece : pieces) {
            if (++steps > MAX_NODES) {
                throw new RenderFailure(null, "the template has more than %d nodes to render".formatted(MAX_NODES));
            }
            switch (piece) {
                case TemplateNode.Text(String text) -> append(text, null);
                case TemplateNode.Value value -> value(value);
                case TemplateNode.If(var path, var then, var otherwise) ->
                    render(isTrue(find(path)) ? then : otherwise);
                case TemplateNode.Each each -> each(each);
            }
        }
    }

    private void value(TemplateNode.Value value) {
        JsonNode node = find(value.operand());
        for (TemplateNode.Filter filter : value.filters()) {
            node = switch (filter) {
                case TemplateNode.Filter.Default(TemplateOperand otherwise) -> isMissing(node) ? find(otherwise) : node;
                case TemplateNode.Filter.Money(TemplateOperand currency) -> money(node, find(currency), value);
            };
        }
        write(node, value);
    }

    private void each(TemplateNode.Each each) {
        JsonNode list = find(each.path());
        if (!list.isArray()) {
            throw new RenderFailure(each.place(), "`%s` is %s, but must be a list".formatted(each.path(), kind(list)));
        }
        if (list.isEmpty()) {
            render(each.otherwise());
            return;
        }
        JsonNode before = items.get(each.item());
        for (JsonNode item : list) {
            if (++passes > MAX_ITERATIONS) {
                throw new RenderFailure(each.place(), "the lists have more than %d items".formatted(MAX_ITERATIONS));
            }
            items.put(each.item(), item);
            render(each.body());
        }
        if (before == null) {
            items.remove(each.item());
        } else {
            items.put(each.item(), before);
        }
    }

    private JsonNode find(TemplateOperand operand) {
        return switch (operand) {
            case TemplateOperand.Literal(JsonNode value) -> value;
            case TemplateOperand.Path(List<String> names) -> {
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

    private void write(JsonNode node, TemplateNode.Value value) {
        if (isMissing(node)) {
            throw new RenderFailure(value.place(), "`%s` is missing".formatted(nameOf(value.operand())));
        }
        String text;
        if (node.isString()) {
            text = node.stringValue();
        } else if (node.isNumber()) {
            BigDecimal number = node.decimalValue();
            if (Math.abs((long) number.scale()) + number.precision() > LONGEST_NUMBER) {
                throw new RenderFailure(
                        value.place(), "`%s` is a number with too many digits".formatted(nameOf(value.operand())));
            }
            text = node.isIntegralNumber() ? number.toBigInteger().toString() : number.toPlainString();
        } else if (node.isBoolean()) {
            text = node.booleanValue() ? "true" : "false";
        } else {
            throw new RenderFailure(
                    value.place(), "`%s` is %s, but must be text".formatted(nameOf(value.operand()), kind(node)));
        }
        if (value.link() && !LINK.matcher(text).matches()) {
            throw new RenderFailure(
                    value.place(),
                    "`%s` begins a link, but its value does not start with https://, http://, mailto: or tel:"
                            .formatted(nameOf(value.operand())));
        }
        escape(text, value);
    }

    private void escape(String text, TemplateNode.Value value) {
        var escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (part == TemplatePart.SUBJECT && Character.isISOControl(c)) {
                throw new RenderFailure(
                        value.place(),
                        "`%s` contains a line break or a control character, but a subject must be one line"
                                .formatted(nameOf(value.operand())));
            }
            String instead = part.escape(c);
            if (instead == null) {
                escaped.append(c);
            } else {
                escaped.append(instead);
            }
        }
        append(escaped.toString(), value.place());
    }

    private void append(String text, @Nullable TemplatePosition place) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
            if (bytes > LONGEST) {
                throw new RenderFailure(place, "the rendered text is longer than %d bytes".formatted(LONGEST));
            }
        }
        out.append(text);
    }

    /** The amount is in the smallest currency unit: 4900 and usd give `49.00 USD`. */
    private JsonNode money(JsonNode amount, JsonNode currency, TemplateNode.Value value) {
        if (isMissing(amount)) {
            throw new RenderFailure(value.place(), "`%s` is missing".formatted(nameOf(value.operand())));
        }
        if (!amount.isIntegralNumber() || !amount.canConvertToLong()) {
            throw new RenderFailure(
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
            throw new RenderFailure(
                    value.place(), "the currency of `%s` is not an ISO 4217 code".formatted(nameOf(value.operand())));
        }
    }

    private static String nameOf(TemplateOperand operand) {
        return operand instanceof TemplateOperand.Path path ? path.toString() : "the literal";
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
