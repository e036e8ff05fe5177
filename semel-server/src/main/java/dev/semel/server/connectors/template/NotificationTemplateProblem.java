package dev.semel.server.connectors.template;

import dev.semel.server.settings.WorkspaceSettingValidationProblem;
import java.util.Map;

/**
 * @param part the template member: subject, text or html
 * @param message what is wrong and how to correct it
 */
public record NotificationTemplateProblem(String part, int line, int column, String message) {
    static NotificationTemplateProblem at(NotificationTemplatePosition templatePosition, String message) {
        return new NotificationTemplateProblem(
                templatePosition.part().memberName(), templatePosition.line(), templatePosition.column(), message);
    }

    /** Converts it to a problem of the stored document. */
    WorkspaceSettingValidationProblem at(String pointer) {
        String rule = message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
        return new WorkspaceSettingValidationProblem(pointer, "line %d, column %d: %s".formatted(line, column, rule));
    }

    public Map<String, Object> toProblemMember() {
        return Map.of("pointer", "/" + part, "line", line, "column", column, "message", message);
    }

    @Override
    public String toString() {
        return "%s, line %d, column %d: %s".formatted(part, line, column, message);
    }
}
