package dev.semel.server.steps;

import dev.semel.server.language.Template;
import dev.semel.workflow.Body;
import dev.semel.workflow.Durable;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Executes the steps of a workflow file and evaluates its output.
 *
 * @param timed whether it reads the start time of the run, which is then recorded
 */
public record FileBody(
        String workflow, List<FileStep> steps, @Nullable Template output, boolean timed, Outside outside)
        implements Body {
    public FileBody {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(Durable durable, JsonNode input) throws Exception {
        Play context = Play.begin(new Play.Course(workflow, input, outside), durable, timed);
        try {
            Steps.run(steps, context);
        } catch (Ended ended) {
            durable.status(ended.word());
            return JsonNodeFactory.instance.objectNode().put("ended", ended.word());
        }
        return output == null ? JsonNodeFactory.instance.nullNode() : context.fill(output);
    }
}
