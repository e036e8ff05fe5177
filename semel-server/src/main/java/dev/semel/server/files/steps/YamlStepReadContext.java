package dev.semel.server.files.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * @param fields of the step itself
 * @param context its position in the order of steps
 */
public record YamlStepReadContext(String id, YamlMapReader fields, ExpressionCompileContext context, ReadTools tools) {
    /** @param nestedReader reads a list of nested steps */
    public record ReadTools(
            YamlFileErrorCollector problems,
            YamlValueTemplateCompiler templates,
            List<String> warnings,
            BiFunction<YamlNode, ExpressionCompileContext, List<YamlStep>> nestedReader) {}

    public YamlFileErrorCollector problems() {
        return tools.problems();
    }

    public void addWarning(String sentence) {
        tools.warnings().add("Step '%s': %s".formatted(id, sentence));
    }

    /** A reader of a field that is a map; null if it is absent or not a map. */
    @Nullable
    public YamlMapReader section(String name) {
        return YamlMapReader.of(fields.get(name), name, problems());
    }

    /** The same, and reports every field that is not among these. */
    @Nullable
    public YamlMapReader section(String name, Set<String> known) {
        YamlMapReader section = section(name);
        return section == null ? null : section.allowOnly(known);
    }

    /** The members of a field that is a map, each with its expressions compiled; empty if it is absent or not a map. */
    public Map<String, YamlValueTemplate> templates(YamlMapReader of, String name, String where, ContextKind kind) {
        Map<String, YamlValueTemplate> templates = new LinkedHashMap<>();
        YamlMapReader fields = YamlMapReader.of(of.get(name), where, problems());
        if (fields != null) {
            ExpressionCompileContext site = context.withKind(kind);
            fields.map()
                    .members()
                    .forEach((key, member) ->
                            templates.put(key, tools.templates().compile(member.value(), site)));
        }
        return templates;
    }

    /** A field with its expressions compiled; null if it is absent. */
    @Nullable
    public YamlValueTemplate template(YamlMapReader of, String name, CelKind... wanted) {
        return template(of, name, ContextKind.STEP, wanted);
    }

    @Nullable
    public YamlValueTemplate template(YamlMapReader of, String name, ContextKind kind, CelKind... wanted) {
        YamlNode tree = of.get(name);
        return tree == null ? null : tools.templates().compile(tree, context.withKind(kind), Set.of(wanted));
    }

    /** The same for a required field. */
    @Nullable
    public YamlValueTemplate requiredTemplate(YamlMapReader of, String name, CelKind... wanted) {
        YamlValueTemplate template = template(of, name, wanted);
        if (template == null) {
            problems().add(of.nameRange(name), "%s is missing.".formatted(name));
        }
        return template;
    }

    /** A condition: one boolean expression, or true or false. */
    public static @Nullable YamlValueTemplate condition(
            ReadTools tools, YamlMapReader fields, String name, ExpressionCompileContext site) {
        YamlNode tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        YamlValueTemplate when = tools.templates().compile(tree, site, Set.of(CelKind.BOOL));
        boolean whole = when instanceof YamlValueTemplate.SingleExpression;
        boolean constant = when instanceof YamlValueTemplate.Literal(var value) && value.isBoolean();
        boolean hasInvalidExpression = tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
                && value.asString().startsWith("${");
        if (!whole && !constant && !hasInvalidExpression) {
            tools.problems()
                    .add(tree.range(), "%s must be one expression that returns true or false: ${ … }.".formatted(name));
        }
        return when;
    }

    public List<YamlStep> readNested(YamlNode list, ExpressionCompileContext at) {
        return tools.nestedReader().apply(list, at);
    }

    public void addError(YamlSourceRange spot, String message) {
        problems().add(spot, message);
    }

    /** @param note a few words beside the caret */
    public void addError(YamlSourceRange spot, String message, String note, String fix) {
        problems().add(spot, message, note, fix);
    }
}
