package dev.semel.server.files.steps.effects;

import dev.semel.definition.EffectSpec;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.YamlEffectOptions;
import dev.semel.server.files.steps.YamlEffectOptionsReader;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.steps.JavaStep;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.EffectOutcome;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `java: name`, `input`: calls a Java step that is registered under that name. */
public record JavaStepAction(String name, @Nullable YamlValueTemplate input, YamlEffectOptions terms)
        implements CompiledYamlStepAction {
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "repeatable", "none");

    public static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        String name = draft.fields().text("java");
        YamlValueTemplate input = draft.template(draft.fields(), "input");
        YamlEffectOptions terms =
                new YamlEffectOptionsReader("a Java step", EffectOperation.CREATE, HONOURED, null).read(draft);
        return name == null || terms == null ? null : new JavaStepAction(name, input, terms);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        JavaStep code = context.services().javaStep(name);
        if (code == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Step '%s' calls the Java step %s, which is not on this server's class path. Nothing was called."
                            .formatted(context.id(), name),
                    "Add its jar to the class path of the server (SEMEL_CLASSPATH) and restart the server.");
        }
        JsonNode given = context.evaluateOrEmpty(input);
        EffectSpec plan = terms.spec(context, new YamlEffectOptions.EffectSend(context.id(), null, null, given));
        return switch (context.durable().effect(plan, step -> code.run(step, given))) {
            case EffectOutcome.Done<JsonNode>(JsonNode result) -> result;
            case EffectOutcome.Indeterminate<JsonNode>(String why) ->
                JsonNodeFactory.instance.objectNode().put("indeterminate", true).put("reason", why);
        };
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.concat(Stream.ofNullable(input), terms.templates());
    }

    @Override
    public @Nullable YamlValueTemplate effectKey() {
        return terms.effectKey();
    }

    @Override
    public Stream<YamlValueTemplate> comparedTemplates() {
        return terms.sendsChanges() ? Stream.ofNullable(input) : Stream.empty();
    }

    @Override
    public DeclaredEffect declaredEffect() {
        return terms.declaredEffect("Java step " + name);
    }
}
