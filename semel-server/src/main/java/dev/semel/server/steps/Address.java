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
 * A URL with expressions. Its host stands in the file, and what an expression gives becomes one part of the path or one
 * value of the query, whatever characters it has: data never chooses whom the server calls, nor what it asks of them.
 *
 * @param written as in the file, for people
 * @param origin a target with the host of this one
 */
record Address(List<Template> parts, String written, Target origin) {
    /** Up to where nothing but the file may speak: the host is over. */
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
                            "the host of a url stands in the file; an expression may come after https://host/ only.",
                            "who would be called?",
                            "Write the host out. For one of several hosts use a choose step with an http step for"
                                    + " each.");
            return null;
        }
        var example = new StringBuilder();
        parts.forEach(
                part -> example.append(part instanceof Template.Literal(JsonNode value) ? value.asString() : "x"));
        String wrong = example.indexOf("#") >= 0 ? "has a fragment, which is never sent" : Target.wrong(example + "");
        if (wrong != null) {
            draft.wrong(spot, "the url %s.".formatted(wrong));
            return null;
        }
        return new Address(parts, text.asString(), Target.of(example.toString()));
    }

    /** The URL, encoded. */
    String fill(Play play) {
        var url = new StringBuilder();
        for (Template part : parts) {
            if (part instanceof Template.Literal(JsonNode text)) {
                url.append(text.asString());
            } else {
                String value = text(play, play.fill(part), "The url");
                if (value.isEmpty() && url.indexOf("?") < 0) {
                    throw play.failed(
                            "The url of step '" + play.id() + "'",
                            "an expression in its path is empty, which would be another resource");
                }
                url.append(Form.percent(value));
            }
        }
        return url.toString();
    }

    /** A plain value as text; lists and maps have no place in a URL, a form or a header. */
    static String text(Play play, JsonNode value, String what) {
        if (value.isString() || value.isNumber() || value.isBoolean()) {
            return value.asString();
        }
        throw play.failed(what + " of step '" + play.id() + "'", "it gave %s".formatted(Kinds.of(value)));
    }

    Stream<Template> templates() {
        return parts.stream();
    }
}
