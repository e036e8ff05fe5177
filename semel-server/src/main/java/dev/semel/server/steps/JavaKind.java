package dev.semel.server.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.language.Template;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Outcome;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `java: name`, `input`: calls a Java step that is registered under that name. */
final class JavaKind implements Kind {
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "repeatable", "none");

    @Override
    public String word() {
        return "java";
    }

    @Override
    public Set<String> fields() {
        Set<String> fields = new LinkedHashSet<>(EffectReader.FIELDS);
        fields.add("input");
        return Set.copyOf(fields);
    }

    @Override
    public @Nullable Act read(Draft draft) {
        String name = draft.fields().text("java");
        Template input = draft.template(draft.fields(), "input");
        EffectTerms terms = new EffectReader("a Java step", EffectPlan.Does.CREATE, HONOURED, null).read(draft);
        return name == null || terms == null ? null : new Call(name, input, terms);
    }

    /** Calls the Java step as an effect. */
    private record Call(String name, @Nullable Template input, EffectTerms terms) implements Act {
        @Override
        public JsonNode run(Play context) {
            JavaStep code = context.outside().java(name);
            if (code == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Step '%s' calls the Java step %s, which is not on this server's class path. Nothing was called."
                                .formatted(context.id(), name),
                        "Add its jar to the class path of the server (SEMEL_CLASSPATH) and restart the server.");
            }
            JsonNode given = input == null ? JsonNodeFactory.instance.objectNode() : context.fill(input);
            EffectPlan plan = terms.plan(context, new EffectTerms.Aim(context.id(), null, null, given));
            return switch (context.durable().effect(plan, step -> code.run(step, given))) {
                case Outcome.Done<JsonNode>(JsonNode result) -> result;
                case Outcome.Indeterminate<JsonNode>(String why) ->
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("indeterminate", true)
                            .put("why", why);
            };
        }

        @Override
        public Stream<Template> templates() {
            return Stream.concat(Stream.ofNullable(input), terms.templates());
        }

        @Override
        public @Nullable Template effectKey() {
            return terms.effectKey();
        }

        @Override
        public Stream<Template> compared() {
            return terms.sendsChanges() ? Stream.ofNullable(input) : Stream.empty();
        }

        @Override
        public Declared effect() {
            return terms.declared("Java step " + name);
        }
    }
}
