package dev.semel.server.channel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.settings.Problem;
import dev.semel.server.settings.TemplateSetting;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A template of a message, ready to be filled. Its parts are subject, text and html; each escapes values as it needs,
 * and none can be told not to.
 */
public final class MessageTemplate {
    private final String name;
    private final Map<Part, List<Piece>> parts = new EnumMap<>(Part.class);
    private final Set<String> reads = new TreeSet<>();

    private MessageTemplate(String name) {
        this.name = name;
    }

    /**
     * @param document `channel`, `subject`, `text`, `html` as they are stored; other members are not looked at
     * @throws SemelException with every problem, its part, line and column
     */
    public static MessageTemplate of(String name, JsonNode document) {
        List<TemplateProblem> problems = new ArrayList<>();
        MessageTemplate template = read(name, document, problems);
        if (!problems.isEmpty()) {
            String count = problems.size() == 1 ? "an error" : problems.size() + " errors, the first";
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Template '%s' has %s in %s It cannot be filled, and nothing was changed."
                                    .formatted(name, count, problems.getFirst()),
                            "Correct the template and send it again.")
                    .with(
                            "errors",
                            problems.stream().map(TemplateProblem::member).toList());
        }
        return template;
    }

    /** Everything that is wrong with a template, in the order of its parts; nothing where it can be filled. */
    public static List<TemplateProblem> check(JsonNode document) {
        List<TemplateProblem> problems = new ArrayList<>();
        read("", document, problems);
        return problems;
    }

    /** The same, for those who store templates. */
    public static List<Problem> check(TemplateSetting setting) {
        return check(document(setting)).stream()
                .map(problem -> problem.at("/" + problem.part()))
                .toList();
    }

    public static MessageTemplate of(String name, TemplateSetting setting) {
        return of(name, document(setting));
    }

    private static JsonNode document(TemplateSetting setting) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("channel", setting.channel())
                .put("subject", setting.subject())
                .put("text", setting.text())
                .put("html", setting.html());
    }

    private static MessageTemplate read(String name, JsonNode document, List<TemplateProblem> problems) {
        var template = new MessageTemplate(name);
        var findings = new TemplateReader.Findings(problems, template.reads);
        boolean chat = document.path("channel").asString("").equals(Medium.CHAT.word());
        template.add(Part.SUBJECT, document.path("subject"), findings);
        template.add(chat ? Part.CHAT : Part.TEXT, document.path("text"), findings);
        template.add(Part.HTML, document.path("html"), findings);
        if (!document.path("text").isString() && !document.path("html").isString()) {
            problems.add(new TemplateProblem("text", 1, 1, "a template has a text, an html, or both."));
        }
        return template;
    }

    private void add(Part part, JsonNode member, TemplateReader.Findings findings) {
        if (member.isMissingNode() || member.isNull()) {
            return;
        }
        if (!member.isString()) {
            findings.problems().add(new TemplateProblem(part.word(), 1, 1, "this is not a text."));
            return;
        }
        String text = member.stringValue();
        if (part == Part.SUBJECT && text.chars().anyMatch(Character::isISOControl)) {
            findings.problems()
                    .add(new TemplateProblem(part.word(), 1, 1, "a subject is one line without control characters."));
        }
        parts.put(part, TemplateReader.read(part, text, findings));
    }

    /** The paths of the data that it reads, those of items as `lines[].sku`. */
    public Set<String> reads() {
        return Collections.unmodifiableSet(reads);
    }

    /** @throws SemelException where a value is missing or does not fit; it names the place and never the value */
    public Rendered render(JsonNode data) {
        String text = parts.containsKey(Part.CHAT) ? fill(Part.CHAT, data) : fill(Part.TEXT, data);
        return new Rendered(fill(Part.SUBJECT, data), text, fill(Part.HTML, data));
    }

    private @Nullable String fill(Part part, JsonNode data) {
        List<Piece> pieces = parts.get(part);
        if (pieces == null) {
            return null;
        }
        try {
            return Rendering.fill(part, pieces, data);
        } catch (Rendering.Unfilled unfilled) {
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Template '%s' could not be filled in %s. Nothing was sent."
                                    .formatted(name, unfilled.why(part)),
                            "Send data that fit, or let the template bear their absence with | default: \"…\" or"
                                    + " {{#if}}.")
                    .with("template", name);
        }
    }
}
