package dev.semel.server.channel;

import dev.semel.server.settings.SettingProblem;
import java.util.Map;

/**
 * A validation problem in a message template, with its part, line and column.
 *
 * @param part the template member: subject, text or html
 * @param message what is wrong and how to correct it
 */
public record TemplateProblem(String part, int line, int column, String message) {
    static TemplateProblem at(TemplatePosition place, String message) {
        return new TemplateProblem(place.part().memberName(), place.line(), place.column(), message);
    }

    /** Converts it to a problem of the stored document. */
    SettingProblem at(String pointer) {
        String rule = message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
        return new SettingProblem(pointer, "line %d, column %d: %s".formatted(line, column, rule));
    }

    /** Converts it to an entry of an HTTP problem response. */
    public Map<String, Object> toProblemMember() {
        return Map.of("pointer", "/" + part, "line", line, "column", column, "message", message);
    }

    @Override
    public String toString() {
        return "%s, line %d, column %d: %s".formatted(part, line, column, message);
    }
}
