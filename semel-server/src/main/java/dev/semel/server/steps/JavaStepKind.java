package dev.semel.server.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.workflow.EffectAction;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.Outcome;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `java: name`, `input`: calls a Java step that is registered under that name. */
final class JavaStepKind implements StepKind {
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "repeatable", "none");

    @Override
    public String name() {
        return "java";
    }

    @Override
    public Set<String> fields() {
        Set<String> fields = new LinkedHashSet<>(EffectOptionsReader.FIELDS);
        fields.add("input");
        return Set.copyOf(fields);
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        String name = draft.fields().text("java");
        ValueTemplate input = draft.template(draft.fields(), "input");
        EffectOptions terms = new EffectOptionsReader("a Java step", EffectAction.CREATE, HONOURED, null).read(draft);
        return name == null || terms == null ? null : new JavaStepAction(name, input, terms);
    }

    /** Calls the Java step as an effect. */
    private record JavaStepAction(String name, @Nullable ValueTemplate input, EffectOptions terms) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            JavaStep code = context.services().javaStep(name);
            if (code == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Step '%s' calls the Java step %s, which is not on this server's class path. Nothing was called."
                                .formatted(context.id(), name),
                        "Add its jar to the class path of the server (SEMEL_CLASSPATH) and restart the server.");
            }
            JsonNode given = input == null ? JsonNodeFactory.instance.objectNode() : context.evaluate(input);
            EffectSpec plan = terms.spec(context, new EffectOptions.EffectSend(context.id(), null, null, given));
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
        public Stream<ValueTemplate> templates() {
            return Stream.concat(Stream.ofNullable(input), terms.templates());
        }

        @Override
        public @Nullable ValueTemplate effectKey() {
            return terms.effectKey();
        }

        @Override
        public Stream<ValueTemplate> comparedTemplates() {
            return terms.sendsChanges() ? Stream.ofNullable(input) : Stream.empty();
        }

        @Override
        public DeclaredEffect declaredEffect() {
            return terms.declaredEffect("Java step " + name);
        }
    }
}
