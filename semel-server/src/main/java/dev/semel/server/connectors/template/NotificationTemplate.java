package dev.semel.server.connectors.template;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.settings.NotificationTemplateSetting;
import dev.semel.server.settings.WorkspaceSettingValidationProblem;
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
public final class NotificationTemplate {
    private final String name;
    private final Map<NotificationTemplatePart, List<NotificationTemplateNode>> parts =
            new EnumMap<>(NotificationTemplatePart.class);
    private final Set<String> referencedPaths = new TreeSet<>();

    private NotificationTemplate(String name) {
        this.name = name;
    }

    /**
     * @param document stored members `channel`, `subject`, `text`, `html`; others are ignored
     * @throws SemelException with the part, line and column of every problem
     */
    public static NotificationTemplate of(String name, JsonNode document) {
        List<NotificationTemplateProblem> problems = new ArrayList<>();
        NotificationTemplate template = read(name, document, problems);
        if (!problems.isEmpty()) {
            String count = problems.size() == 1 ? "an error" : problems.size() + " errors, the first";
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Template '%s' has %s in %s Semel cannot render it. Nothing was changed."
                                    .formatted(name, count, problems.getFirst()),
                            "Correct the template and send it again.")
                    .with(
                            "errors",
                            problems.stream()
                                    .map(NotificationTemplateProblem::toProblemMember)
                                    .toList());
        }
        return template;
    }

    /** Returns all problems of a template in the order of its parts; empty if it is valid. */
    public static List<NotificationTemplateProblem> check(JsonNode document) {
        List<NotificationTemplateProblem> problems = new ArrayList<>();
        read("", document, problems);
        return problems;
    }

    public static List<WorkspaceSettingValidationProblem> check(NotificationTemplateSetting setting) {
        return check(document(setting)).stream()
                .map(problem -> problem.at("/" + problem.part()))
                .toList();
    }

    public static NotificationTemplate of(String name, NotificationTemplateSetting setting) {
        return of(name, document(setting));
    }

    private static JsonNode document(NotificationTemplateSetting setting) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("channel", setting.channel())
                .put("subject", setting.subject())
                .put("text", setting.text())
                .put("html", setting.html());
    }

    private static NotificationTemplate read(
            String name, JsonNode document, List<NotificationTemplateProblem> problems) {
        var template = new NotificationTemplate(name);
        var findings = new NotificationTemplateParser.Findings(problems, template.referencedPaths);
        boolean chat = document.path("channel").asString("").equals(NotificationMedium.CHAT.word());
        template.add(NotificationTemplatePart.SUBJECT, document.path("subject"), findings);
        template.add(
                chat ? NotificationTemplatePart.CHAT : NotificationTemplatePart.TEXT, document.path("text"), findings);
        template.add(NotificationTemplatePart.HTML, document.path("html"), findings);
        if (!document.path("text").isString() && !document.path("html").isString()) {
            problems.add(
                    new NotificationTemplateProblem("text", 1, 1, "a template needs a text, an html part, or both."));
        }
        return template;
    }

    private void add(NotificationTemplatePart part, JsonNode member, NotificationTemplateParser.Findings findings) {
        if (member.isMissingNode() || member.isNull()) {
            return;
        }
        if (!member.isString()) {
            findings.problems().add(new NotificationTemplateProblem(part.memberName(), 1, 1, "this must be text."));
            return;
        }
        String text = member.stringValue();
        if (part == NotificationTemplatePart.SUBJECT && text.chars().anyMatch(Character::isISOControl)) {
            findings.problems()
                    .add(new NotificationTemplateProblem(
                            part.memberName(), 1, 1, "a subject must be one line without control characters."));
        }
        parts.put(part, NotificationTemplateParser.read(part, text, findings));
    }

    /** The data paths that the template reads; list items are written `lines[].sku`. */
    public Set<String> referencedPaths() {
        return Collections.unmodifiableSet(referencedPaths);
    }

    /** @throws SemelException if a value is missing or has the wrong type; names the position, never the value */
    public RenderedMessage render(JsonNode data) {
        String text = parts.containsKey(NotificationTemplatePart.CHAT)
                ? fill(NotificationTemplatePart.CHAT, data)
                : fill(NotificationTemplatePart.TEXT, data);
        return new RenderedMessage(
                fill(NotificationTemplatePart.SUBJECT, data), text, fill(NotificationTemplatePart.HTML, data));
    }

    private @Nullable String fill(NotificationTemplatePart part, JsonNode data) {
        List<NotificationTemplateNode> pieces = parts.get(part);
        if (pieces == null) {
            return null;
        }
        try {
            return NotificationTemplateRenderer.render(part, pieces, data);
        } catch (NotificationTemplateRenderer.RenderFailure unfilled) {
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Semel could not render template '%s' in %s. Nothing was sent."
                                    .formatted(name, unfilled.describe(part)),
                            "Send the data that the template needs, or make the value optional with | default: \"…\" or"
                                    + " {{#if}}.")
                    .with("template", name);
        }
    }
}
