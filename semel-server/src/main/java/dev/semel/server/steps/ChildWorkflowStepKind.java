package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.definition.DurableOperations;
import dev.semel.workflow.Start;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `workflow: name`, `key`, `input`: starts a child workflow once and waits for its output. */
final class ChildWorkflowStepKind implements StepKind {
    @Override
    public String name() {
        return "workflow";
    }

    @Override
    public Set<String> fields() {
        return Set.of("key", "input");
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        String name = draft.fields().text("workflow");
        ValueTemplate key = draft.template(draft.fields(), "key", ExpressionContext.ContextKind.EFFECT_KEY, CelKind.STRING, CelKind.INT);
        ValueTemplate input = draft.template(draft.fields(), "input");
        return name == null ? null : new ChildWorkflowAction(name, key, draft.fieldText("key"), input);
    }

    /**
     * Starts the child workflow.
     *
     * @param key null: one child for this step and its replays
     * @param keySource the key as written in the file; empty if there is none
     */
    record ChildWorkflowAction(
            String workflow,
            @Nullable ValueTemplate key,
            String keySource,
            @Nullable ValueTemplate input) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            JsonNode given = input == null ? JsonNodeFactory.instance.objectNode() : context.evaluate(input);
            String name = context.optionalText(key, "key");
            Start start = name == null ? Start.fresh() : Start.withKey(name);
            return context.durable().call(context.id(), new DurableOperations.ChildWorkflowCall(workflow, given, start, true));
        }

        @Override
        public String calledWorkflow() {
            return workflow;
        }

        @Override
        public String identity() {
            return keySource;
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(key, input).flatMap(Stream::ofNullable);
        }
    }
}
