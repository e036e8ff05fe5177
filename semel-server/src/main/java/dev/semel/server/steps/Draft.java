package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.Site;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.TemplateCompiler;
import dev.semel.server.language.Tree;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The step being read, with its fields, its expression context and the shared reader tools.
 *
 * @param fields of the step itself
 * @param site its position in the order of steps
 */
record Draft(String id, Fields fields, Site site, Tools tools) {
    /**
     * The tools that all step readers of one file share.
     *
     * @param inner reads a list of nested steps
     */
    record Tools(
            Problems problems,
            TemplateCompiler templates,
            List<String> warnings,
            BiFunction<Tree, Site, List<FileStep>> inner) {}

    Problems problems() {
        return tools.problems();
    }

    /** Adds a lint warning. */
    void warn(String sentence) {
        tools.warnings().add("Step '%s': %s".formatted(id, sentence));
    }

    /** A reader of a field that is a map; null if it is absent or not a map. */
    @Nullable
    Fields section(String name) {
        return Fields.of(fields.get(name), name, problems());
    }

    /** A field with its expressions compiled; null if it is absent. */
    @Nullable
    Template template(Fields of, String name, CelKind... wanted) {
        return template(of, name, Site.Kind.STEP, wanted);
    }

    @Nullable
    Template template(Fields of, String name, Site.Kind kind, CelKind... wanted) {
        Tree tree = of.get(name);
        return tree == null ? null : tools.templates().compile(tree, site.as(kind), Set.of(wanted));
    }

    /** The same for a required field. */
    @Nullable
    Template needed(Fields of, String name, CelKind... wanted) {
        Template template = template(of, name, wanted);
        if (template == null) {
            problems().add(of.spotOf(name), "%s is missing.".formatted(name));
        }
        return template;
    }

    /** A scalar field of the step as written; empty if it is absent or not a scalar. */
    String written(String name) {
        return fields.get(name) instanceof Tree.Scalar(Spot _, var text) ? text.asString() : "";
    }

    List<FileStep> inner(Tree list, Site at) {
        return tools.inner().apply(list, at);
    }

    void wrong(Spot spot, String message) {
        problems().add(spot, message);
    }
}
