package dev.semel.server.files.steps.effects;

import dev.semel.server.connectors.outbound.FormUrlEncoder;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
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
 * @param sourceText as in the file, for messages
 * @param origin a target with the host of this URL
 */
record UrlTemplate(List<YamlValueTemplate> parts, String sourceText, OutboundRequestUrl origin) {
    /** Matches if the text before the first expression has a complete host. */
    private static final Pattern WITH_HOST = Pattern.compile("(?i)https?://[^/?#]+[/?].*", Pattern.DOTALL);

    UrlTemplate {
        parts = List.copyOf(parts);
    }

    static @Nullable UrlTemplate read(YamlStepReadContext draft, YamlMapReader section) {
        YamlValueTemplate template = draft.requiredTemplate(section, "url");
        if (template == null || !(section.get("url") instanceof YamlNode.ScalarNode(YamlSourceRange spot, var text))) {
            return null;
        }
        List<YamlValueTemplate> parts =
                template instanceof YamlValueTemplate.InterpolatedText(List<YamlValueTemplate> several)
                        ? several
                        : List.of(template);
        if (!(parts.getFirst() instanceof YamlValueTemplate.Literal(JsonNode first))
                || !first.isString()
                || (parts.size() > 1 && !WITH_HOST.matcher(first.stringValue()).matches())) {
            draft.addError(
                    spot,
                    "the host of a url must be constant; expressions are allowed only after https://host/.",
                    "host not constant",
                    "Write the host as text. For several hosts, use a choose step with one http step for each.");
            return null;
        }
        var example = new StringBuilder();
        parts.forEach(part ->
                example.append(part instanceof YamlValueTemplate.Literal(JsonNode value) ? value.asString() : "x"));
        String wrong = example.indexOf("#") >= 0
                ? "has a fragment, which HTTP does not send; remove it"
                : OutboundRequestUrl.findProblem(example + "");
        if (wrong != null) {
            draft.addError(spot, "the url %s.".formatted(wrong));
            return null;
        }
        return new UrlTemplate(parts, text.asString(), OutboundRequestUrl.parse(example.toString()));
    }

    String evaluate(YamlStepExecutionContext context) {
        var url = new StringBuilder();
        for (YamlValueTemplate part : parts) {
            if (part instanceof YamlValueTemplate.Literal(JsonNode text)) {
                url.append(text.asString());
            } else {
                String value = text(context, context.evaluate(part), "The url");
                if (value.isEmpty() && url.indexOf("?") < 0) {
                    throw context.evaluationFailed(
                            "The url of step '" + context.id() + "'",
                            "an expression in its path is empty, which would address another resource");
                }
                url.append(FormUrlEncoder.percentEncode(value));
            }
        }
        return url.toString();
    }

    /** A scalar value as text; lists and maps are not allowed in a URL, form or header. */
    static String text(YamlStepExecutionContext context, JsonNode value, String what) {
        if (value.isString() || value.isNumber() || value.isBoolean()) {
            return value.asString();
        }
        throw context.evaluationFailed(
                what + " of step '" + context.id() + "'", "it returned %s".formatted(JsonValueTypeNames.nameOf(value)));
    }

    Stream<YamlValueTemplate> templates() {
        return parts.stream();
    }
}
