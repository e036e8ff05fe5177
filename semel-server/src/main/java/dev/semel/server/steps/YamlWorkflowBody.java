package dev.semel.server.steps;

import dev.semel.server.expressions.ValueTemplate;
import dev.semel.definition.WorkflowBody;
import dev.semel.definition.DurableOperations;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Executes the steps of a workflow file and evaluates its output.
 *
 * @param readsStartTime whether it reads the start time of the run, which is then recorded
 */
public record YamlWorkflowBody(
        String workflow, List<YamlStep> steps, @Nullable ValueTemplate output, boolean readsStartTime, StepServices services)
        implements WorkflowBody {
    public YamlWorkflowBody {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(DurableOperations durable, JsonNode input) throws Exception {
        StepContext context = StepContext.begin(new StepContext.RunContext(workflow, input, services), durable, readsStartTime);
        try {
            StepSequenceRunner.run(steps, context);
        } catch (EndRunException ended) {
            durable.status(ended.status());
            return JsonNodeFactory.instance.objectNode().put("ended", ended.status());
        }
        return output == null ? JsonNodeFactory.instance.nullNode() : context.evaluate(output);
    }
}
