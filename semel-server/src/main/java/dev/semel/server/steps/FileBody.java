package dev.semel.server.steps;

import dev.semel.server.language.Template;
import dev.semel.workflow.Body;
import dev.semel.workflow.Durable;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The steps of a file and its output, as the body of a workflow. */
public record FileBody(
        String workflow, List<FileStep> steps, @Nullable Template output, Outside outside) implements Body {
    public FileBody {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(Durable durable, JsonNode input) throws Exception {
        Play play = Play.begin(new Play.Course(workflow, input, outside), durable);
        try {
            Steps.run(steps, play);
        } catch (Ended ended) {
            durable.status(ended.word());
            return JsonNodeFactory.instance.objectNode().put("ended", ended.word());
        }
        return output == null ? JsonNodeFactory.instance.nullNode() : play.fill(output);
    }
}
