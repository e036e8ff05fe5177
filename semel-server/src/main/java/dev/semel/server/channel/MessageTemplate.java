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

/** A parsed message template with subject, text and html parts. Each part always escapes its values. */
public final class MessageTemplate {
    private final String name;
    private final Map<Part, List<Piece>> parts = new EnumMap<>(Part.class);
    private final Set<String> reads = new TreeSet<>();

    private MessageTemplate(String name) {
        this.name = name;
    }

    /**
     * @param document stored members `channel`, `subject`, `text`, `html`; others are ignored
     * @throws SemelException with the part, line and column of every problem
     */
    public static MessageTemplate of(String name, JsonNode document) {
        List<TemplateProblem> problems = new ArrayList<>();
        MessageTemplate template = read(name, document, problems);
        if (!problems.isEmpty()) {
            String count = problems.size() == 1 ? "an error" : problems.size() + " errors, the first";
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Template '%s' has %s in %s Semel cannot render it. Nothing was changed."
                                    .formatted(name, count, problems.getFirst()),
                            "Correct the template and send it again.")
                    .with(
                            "errors",
                            problems.stream().map(TemplateProblem::member).toList());
        }
        return template;
    }

    /** Returns all problems of a template in the order of its parts; empty if it is valid. */
    public static List<TemplateProblem> check(JsonNode document) {
        List<TemplateProblem> problems = new ArrayList<>();
        read("", document, problems);
        return problems;
    }

    /** The same for a stored template setting. */
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
            problems.add(new TemplateProblem("text", 1, 1, "a template needs a text, an html part, or both."));
        }
        return template;
    }

    private void add(Part part, JsonNode member, TemplateReader.Findings findings) {
        if (member.isMissingNode() || member.isNull()) {
            return;
        }
        if (!member.isString()) {
            findings.problems().add(new TemplateProblem(part.word(), 1, 1, "this must be text."));
            return;
        }
        String text = member.stringValue();
        if (part == Part.SUBJECT && text.chars().anyMatch(Character::isISOControl)) {
            findings.problems()
                    .add(new TemplateProblem(part.word(), 1, 1, "a subject must be one line without control"
                            + " characters."));
        }
        parts.put(part, TemplateReader.read(part, text, findings));
    }

    /** The data paths that the template reads; list items are written `lines[].sku`. */
    public Set<String> reads() {
        return Collections.unmodifiableSet(reads);
    }

    /** @throws SemelException if a value is missing or has the wrong type; names the position, never the value */
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
                            "Semel could not render template '%s' in %s. Nothing was sent."
                                    .formatted(name, unfilled.why(part)),
                            "Send the data that the template needs, or make the value optional with | default: \"…\" or"
                                    + " {{#if}}.")
                    .with("template", name);
        }
    }
}
