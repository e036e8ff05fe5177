package dev.semel.server.settings;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is wrong with a document.
 *
 * @param pointer where, as a JSON pointer
 * @param message the rule, never the value
 * @param line in the text at that place; 0 where it is no text of several lines
 */
public record Problem(String pointer, String message, int line, int column) {
    public Problem(String pointer, String message) {
        this(pointer, message, 0, 0);
    }

    /** As a member of a problem document. */
    Map<String, Object> member() {
        Map<String, Object> member = new LinkedHashMap<>();
        member.put("pointer", pointer);
        member.put("message", message);
        if (line > 0) {
            member.put("line", line);
            member.put("column", column);
        }
        return member;
    }
}
