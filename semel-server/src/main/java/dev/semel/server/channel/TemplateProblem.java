package dev.semel.server.channel;

import dev.semel.server.settings.Problem;
import java.util.Map;

/**
 * Something wrong with a template.
 *
 * @param part the member of the template that it stands in: subject, text or html
 * @param message what is wrong and what to write instead
 */
public record TemplateProblem(String part, int line, int column, String message) {
    static TemplateProblem at(Place place, String message) {
        return new TemplateProblem(place.part().word(), place.line(), place.column(), message);
    }

    /** As one of the problems of a stored document, whose texts are put into a sentence. */
    Problem at(String pointer) {
        String rule = message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
        return new Problem(pointer, "line %d, column %d: %s".formatted(line, column, rule));
    }

    /** As a member of a problem document. */
    public Map<String, Object> member() {
        return Map.of("pointer", "/" + part, "line", line, "column", column, "message", message);
    }

    @Override
    public String toString() {
        return "%s, line %d, column %d: %s".formatted(part, line, column, message);
    }
}
