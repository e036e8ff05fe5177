package dev.semel.workflow;

import tools.jackson.databind.JsonNode;

/** What a workflow does: a function of its input that reaches the world only through the context. */
@FunctionalInterface
public interface Body {
    JsonNode run(Context context, JsonNode input) throws Exception;
}
