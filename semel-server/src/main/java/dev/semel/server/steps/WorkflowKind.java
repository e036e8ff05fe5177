package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Site;
import dev.semel.server.language.Template;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Start;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `workflow: name`, `key`, `input`: starts a child workflow once and waits for its output. */
final class WorkflowKind implements Kind {
    @Override
    public String word() {
        return "workflow";
    }

    @Override
    public Set<String> fields() {
        return Set.of("key", "input");
    }

    @Override
    public @Nullable Act read(Draft draft) {
        String name = draft.fields().text("workflow");
        Template key = draft.template(draft.fields(), "key", Site.Kind.EFFECT_KEY, CelKind.STRING, CelKind.INT);
        Template input = draft.template(draft.fields(), "input");
        return name == null ? null : new Call(name, key, draft.written("key"), input);
    }

    /**
     * Starts the child workflow.
     *
     * @param key null: one child for this step and its replays
     * @param written the key as written in the file; empty if there is none
     */
    record Call(
            String workflow,
            @Nullable Template key,
            String written,
            @Nullable Template input) implements Act {
        @Override
        public JsonNode run(Play context) {
            JsonNode given = input == null ? JsonNodeFactory.instance.objectNode() : context.fill(input);
            String name = context.maybeText(key, "key");
            Start start = name == null ? Start.fresh() : Start.withKey(name);
            return context.durable().call(context.id(), new Durable.Child(workflow, given, start, true));
        }

        @Override
        public String calls() {
            return workflow;
        }

        @Override
        public String identity() {
            return written;
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(key, input).flatMap(Stream::ofNullable);
        }
    }
}
