package dev.semel.server.steps;

import dev.semel.server.language.Fields;
import dev.semel.server.language.Kinds;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.server.outbound.Form;
import dev.semel.server.outbound.Target;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A URL with `${ … }` expressions in its path or query; the host is constant.
 *
 * <p>Each value becomes one encoded path segment or query value, so that data never chooses the host or the request.
 *
 * @param written as in the file, for messages
 * @param origin a target with the host of this URL
 */
record Address(List<Template> parts, String written, Target origin) {
    /** Matches if the text before the first expression has a complete host. */
    private static final Pattern WITH_HOST = Pattern.compile("(?i)https?://[^/?#]+[/?].*", Pattern.DOTALL);

    Address {
        parts = List.copyOf(parts);
    }

    static @Nullable Address read(Draft draft, Fields section) {
        Template template = draft.needed(section, "url");
        if (template == null || !(section.get("url") instanceof Tree.Scalar(Spot spot, var text))) {
            return null;
        }
        List<Template> parts = template instanceof Template.Text(List<Template> several) ? several : List.of(template);
        if (!(parts.getFirst() instanceof Template.Literal(JsonNode first))
                || !first.isString()
                || (parts.size() > 1 && !WITH_HOST.matcher(first.stringValue()).matches())) {
            draft.problems()
                    .add(
                            spot,
                            "the host of a url must be constant; expressions are allowed only after https://host/.",
                            "host not constant",
                            "Write the host as text. For several hosts, use a choose step with one http step for"
                                    + " each.");
            return null;
        }
        var example = new StringBuilder();
        parts.forEach(
                part -> example.append(part instanceof Template.Literal(JsonNode value) ? value.asString() : "x"));
        String wrong = example.indexOf("#") >= 0 ? "has a fragment, which HTTP does not send; remove it" : Target.wrong(example + "");
        if (wrong != null) {
            draft.wrong(spot, "the url %s.".formatted(wrong));
            return null;
        }
        return new Address(parts, text.asString(), Target.of(example.toString()));
    }

    /** Evaluates and encodes the URL. */
    String fill(Play context) {
        var url = new StringBuilder();
        for (Template part : parts) {
            if (part instanceof Template.Literal(JsonNode text)) {
                url.append(text.asString());
            } else {
                String value = text(context, context.fill(part), "The url");
                if (value.isEmpty() && url.indexOf("?") < 0) {
                    throw context.failed(
                            "The url of step '" + context.id() + "'",
                            "an expression in its path is empty, which would address another resource");
                }
                url.append(Form.percent(value));
            }
        }
        return url.toString();
    }

    /** A scalar value as text; lists and maps are not allowed in a URL, form or header. */
    static String text(Play context, JsonNode value, String what) {
        if (value.isString() || value.isNumber() || value.isBoolean()) {
            return value.asString();
        }
        throw context.failed(what + " of step '" + context.id() + "'", "it returned %s".formatted(Kinds.of(value)));
    }

    Stream<Template> templates() {
        return parts.stream();
    }
}
