package dev.semel.server.files.steps.flow;

import dev.cel.common.types.CelKind;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.workflow.Start;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Step kind `workflow: name`, `key`, `input`: starts a child workflow once and waits for its output.
 *
 * @param key null: one child for this step and its replays
 * @param identity the key as written in the file; empty if there is none
 */
record ChildWorkflowStepAction(
        String calledWorkflow,
        @Nullable YamlValueTemplate key,
        String identity,
        @Nullable YamlValueTemplate input) implements CompiledYamlStepAction {
    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        String name = draft.fields().text("workflow");
        YamlValueTemplate key = draft.template(
                draft.fields(), "key", ContextKind.EFFECT_KEY, CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate input = draft.template(draft.fields(), "input");
        return name == null
                ? null
                : new ChildWorkflowStepAction(name, key, draft.fields().sourceText("key"), input);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        JsonNode given = context.evaluateOrEmpty(input);
        String name = context.optionalText(key, "key");
        Start start = name == null ? Start.fresh() : Start.withKey(name);
        return context.durable()
                .call(
                        context.id(),
                        new DurableWorkflowOperations.ChildWorkflowCall(calledWorkflow, given, start, true));
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.of(key, input).flatMap(Stream::ofNullable);
    }
}
