package dev.semel.server.steps;

import dev.semel.workflow.Step;
import tools.jackson.databind.JsonNode;

/**
 * A step that is written in Java and called from files by its name: {@code java: name}. Found by
 * {@link java.util.ServiceLoader}. It is an effect like any other: the file states its protection, and
 * {@link Step#key} goes along to whatever it calls.
 */
public interface JavaStep {
    String name();

    JsonNode run(Step step, JsonNode input) throws Exception;
}
