package dev.semel.server.files.steps.flow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.WorkflowBody;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.EarlyRunEndException;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * @param object the business object of the run (`idempotency.object`), which effects without one have
 * @param readsStartTime whether it reads the start time of the run, which is then recorded
 */
public record YamlWorkflowBody(
        String workflow,
        List<YamlStep> steps,
        @Nullable YamlValueTemplate output,
        @Nullable YamlValueTemplate object,
        boolean readsStartTime,
        YamlStepDependencies services)
        implements WorkflowBody {
    public YamlWorkflowBody {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(DurableWorkflowOperations durable, JsonNode input) throws Exception {
        YamlStepExecutionContext context = YamlStepExecutionContext.begin(
                new YamlStepExecutionContext.RunContext(workflow, input, services, object), durable, readsStartTime);
        try {
            StepSequenceRunner.run(steps, context);
        } catch (EarlyRunEndException ended) {
            durable.status(ended.status());
            if (ended.rejection() != null) {
                throw ended.rejection();
            }
            return JsonNodeFactory.instance.objectNode().put("ended", ended.status());
        }
        return output == null ? JsonNodeFactory.instance.nullNode() : context.evaluate(output);
    }
}
