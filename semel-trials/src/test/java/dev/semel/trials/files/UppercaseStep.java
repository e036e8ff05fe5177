package dev.semel.trials.files;

import dev.semel.server.steps.JavaStep;
import dev.semel.workflow.Step;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A step that somebody wrote in Java. */
public final class UppercaseStep implements JavaStep {
    @Override
    public String name() {
        return "shout";
    }

    @Override
    public JsonNode run(Step step, JsonNode input) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("said", input.path("text").asString("").toUpperCase(Locale.ROOT))
                .put("key", step.key());
    }
}
