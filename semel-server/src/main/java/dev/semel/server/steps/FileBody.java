package dev.semel.server.steps;

import dev.semel.server.language.Template;
import dev.semel.workflow.Body;
import dev.semel.workflow.Durable;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The steps of a file and its output, as the body of a workflow.
 *
 * @param timed whether it reads when the run began, which is recorded then
 */
public record FileBody(
        String workflow, List<FileStep> steps, @Nullable Template output, boolean timed, Outside outside)
        implements Body {
    public FileBody {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(Durable durable, JsonNode input) throws Exception {
        Play play = Play.begin(new Play.Course(workflow, input, outside), durable, timed);
        try {
            Steps.run(steps, play);
        } catch (Ended ended) {
            durable.status(ended.word());
            return JsonNodeFactory.instance.objectNode().put("ended", ended.word());
        }
        return output == null ? JsonNodeFactory.instance.nullNode() : play.fill(output);
    }
}
