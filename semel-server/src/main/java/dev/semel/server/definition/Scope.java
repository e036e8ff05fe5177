package dev.semel.server.definition;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The names an expression can read while it runs. Which of them a place in the file offers is decided when the file is
 * published ({@link Site}); a name not offered there is simply empty here.
 *
 * @param steps results of the steps that ran so far; a skipped step is absent
 * @param header names are looked up without regard to case
 */
record Scope(JsonNode input, Map<String, JsonNode> steps, String runId, String stepId, Map<String, String> header) {
    static Scope ofInput(JsonNode input) {
        return new Scope(input, Map.of(), "", "", Map.of());
    }

    @Nullable
    Object variable(String name) {
        return switch (name) {
            case "input" -> Values.fromJson(input);
            case "steps" -> Values.fromSteps(steps);
            case "run" -> Map.of("id", runId);
            case "step" -> Map.of("id", stepId);
            case "header" -> header;
            default -> null;
        };
    }
}
