package dev.semel.server.steps;

import dev.semel.workflow.Step;
import tools.jackson.databind.JsonNode;

/**
 * A step written in Java that workflow files call by name: {@code java: name}.
 *
 * <p>Found by {@link java.util.ServiceLoader}. It is an effect: the file declares its protection, and the step passes
 * {@link Step#key} to the system that it calls.
 */
public interface JavaStep {
    String name();

    JsonNode run(Step step, JsonNode input) throws Exception;
}
