package dev.semel.server.steps;

import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Step kind `set: {…}`: evaluates expressions and records the result. */
final class SetKind implements Kind {
    @Override
    public String word() {
        return "set";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Tree tree = draft.fields().get("set");
        return tree == null ? null : new Assignment(draft.tools().templates().compile(tree, draft.site()));
    }

    /** Evaluates and records the value. */
    private record Assignment(Template value) implements Act {
        @Override
        public JsonNode run(Play context) {
            return context.durable().step(context.id(), () -> context.fill(value));
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(value);
        }
    }
}
