package dev.semel.server.steps;

import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlNode;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Step kind `set: {…}`: evaluates expressions and records the result. */
final class SetStepKind implements StepKind {
    @Override
    public String name() {
        return "set";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        YamlNode tree = draft.fields().get("set");
        return tree == null ? null : new SetAction(draft.tools().templates().compile(tree, draft.context()));
    }

    /** Evaluates and records the value. */
    private record SetAction(ValueTemplate value) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            return context.durable().step(context.id(), () -> context.evaluate(value));
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(value);
        }
    }
}
