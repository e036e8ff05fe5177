package dev.semel.server.connectors.template;

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
public final class NotificationTemplateRenderer {
    /** Most bytes of one rendered part in UTF-8. */
    static final int LONGEST = 1024 * 1024;

    /** Most loop iterations in one part. */
    static final int MAX_ITERATIONS = 10_000;

    /** Most template nodes to process in one part. */
    static final int MAX_NODES = 1_000_000;

    private static final int LONGEST_NUMBER = 100;
    private static final Pattern LINK = Pattern.compile("(?i)(https?://|mailto:|tel:).*", Pattern.DOTALL);

    private final NotificationTemplatePart part;
    private final JsonNode data;
    private final Map<String, JsonNode> items = new HashMap<>();
    private final StringBuilder out = new StringBuilder();
    private int bytes;
    private int passes;
    private int steps;

    private NotificationTemplateRenderer(NotificationTemplatePart part, JsonNode data) {
        this.part = part;
        this.data = data;
    }

    /** @throws RenderFailure if a value is missing or has the wrong type */
    static String render(NotificationTemplatePart part, List<NotificationTemplateNode> pieces, JsonNode data) {
        var rendering = new NotificationTemplateRenderer(part, data);
        rendering.render(pieces);
        return rendering.out.toString();
    }

    /** A value that could not be rendered. Names positions and variables of the template, never a value. */
    public static final class RenderFailure extends RuntimeException {
        private final @Nullable NotificationTemplatePosition templatePosition;

        RenderFailure(@Nullable NotificationTemplatePosition templatePosition, String why) {
            super(why, null, false, false);
            this.templatePosition = templatePosition;
        }

        String describe(NotificationTemplatePart part) {
            return (templatePosition == null ? part.memberName() : templatePosition.toString()) + ": " + getMessage();
        }
    }

    private void render(List<NotificationTemplateNode> pieces) {
        for (NotificationTemplateNode piece : pieces) {
            if (++steps > MAX_NODES) {
                throw new RenderFailure(null, "the template has more than %d nodes to render".formatted(MAX_NODES));
            }
            switch (piece) {
                case NotificationTemplateNode.Text(String text) -> append(text, null);
                case NotificationTemplateNode.Value value -> value(value);
                case NotificationTemplateNode.If(var path, var then, var otherwise) ->
                    render(isTrue(find(path)) ? then : otherwise);
                case NotificationTemplateNode.Each each -> each(each);
            }
        }
    }

    private void value(NotificationTemplateNode.Value value) {
        JsonNode node = find(value.operand());
        for (NotificationTemplateNode.Filter filter : value.filters()) {
            node = switch (filter) {
                case NotificationTemplateNode.Filter.Default(NotificationTemplateOperand otherwise) ->
                    isMissing(node) ? find(otherwise) : node;
                case NotificationTemplateNode.Filter.Money(NotificationTemplateOperand currency) ->
                    money(node, find(currency), value);
            };
        }
        write(node, value);
    }

    private void each(NotificationTemplateNode.Each each) {
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

    private JsonNode find(NotificationTemplateOperand operand) {
        return switch (operand) {
            case NotificationTemplateOperand.Literal(JsonNode value) -> value;
            case NotificationTemplateOperand.Path(List<String> names) -> {
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

    private void write(JsonNode node, NotificationTemplateNode.Value value) {
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

    private void escape(String text, NotificationTemplateNode.Value value) {
        var escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (part == NotificationTemplatePart.SUBJECT && Character.isISOControl(c)) {
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

    private void append(String text, @Nullable NotificationTemplatePosition templatePosition) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
            if (bytes > LONGEST) {
                throw new RenderFailure(
                        templatePosition, "the rendered text is longer than %d bytes".formatted(LONGEST));
            }
        }
        out.append(text);
    }

    /** The amount is in the smallest currency unit: 4900 and usd give `49.00 USD`. */
    private JsonNode money(JsonNode amount, JsonNode currency, NotificationTemplateNode.Value value) {
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

    private static String nameOf(NotificationTemplateOperand operand) {
        return operand instanceof NotificationTemplateOperand.Path path ? path.toString() : "the literal";
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
