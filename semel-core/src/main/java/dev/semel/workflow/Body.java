package dev.semel.workflow;

import tools.jackson.databind.JsonNode;

/** What a workflow does: a function of its input that reaches the world only through what it is handed. */
@FunctionalInterface
public interface Body {
    JsonNode run(Durable durable, JsonNode input) throws Exception;
}
