package dev.semel.server.settings;

import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * What else can be wrong with a document, by those who will use it: told when it is stored and not when something is to
 * be sent. What is stored already is never looked at again by these, so a new rule stops no message that went out before.
 */
public interface Checks {
    Checks NONE = new Checks() {};

    default List<Problem> template(JsonNode document) {
        return List.of();
    }

    default List<Problem> channel(JsonNode document) {
        return List.of();
    }
}
