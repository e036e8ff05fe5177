package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.FileErrorCollector;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.ValueTemplateCompiler;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The step being read, with its fields, its expression context and the shared reader tools.
 *
 * @param fields of the step itself
 * @param context its position in the order of steps
 */
record StepReadContext(String id, YamlMapReader fields, ExpressionContext context, ReadTools tools) {
    /**
     * The tools that all step readers of one file share.
     *
     * @param nestedReader reads a list of nested steps
     */
    record ReadTools(
            FileErrorCollector problems,
            ValueTemplateCompiler templates,
            List<String> warnings,
            BiFunction<YamlNode, ExpressionContext, List<YamlStep>> nestedReader) {}

    FileErrorCollector problems() {
        return tools.problems();
    }

    /** Adds a lint warning. */
    void addWarning(String sentence) {
        tools.warnings().add("Step '%s': %s".formatted(id, sentence));
    }

    /** A reader of a field that is a map; null if it is absent or not a map. */
    @Nullable
    YamlMapReader section(String name) {
        return YamlMapReader.of(fields.get(name), name, problems());
    }

    /** A field with its expressions compiled; null if it is absent. */
    @Nullable
    ValueTemplate template(YamlMapReader of, String name, CelKind... wanted) {
        return template(of, name, ExpressionContext.ContextKind.STEP, wanted);
    }

    @Nullable
    ValueTemplate template(YamlMapReader of, String name, ExpressionContext.ContextKind kind, CelKind... wanted) {
        YamlNode tree = of.get(name);
        return tree == null ? null : tools.templates().compile(tree, context.withKind(kind), Set.of(wanted));
    }

    /** The same for a required field. */
    @Nullable
    ValueTemplate requiredTemplate(YamlMapReader of, String name, CelKind... wanted) {
        ValueTemplate template = template(of, name, wanted);
        if (template == null) {
            problems().add(of.nameRange(name), "%s is missing.".formatted(name));
        }
        return template;
    }

    /** A scalar field of the step as written; empty if it is absent or not a scalar. */
    String fieldText(String name) {
        return fields.get(name) instanceof YamlNode.ScalarNode(SourceRange _, var text) ? text.asString() : "";
    }

    List<YamlStep> readNested(YamlNode list, ExpressionContext at) {
        return tools.nestedReader().apply(list, at);
    }

    void addError(SourceRange spot, String message) {
        problems().add(spot, message);
    }
}
