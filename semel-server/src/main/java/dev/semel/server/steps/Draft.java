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
 * A step that is being read.
 *
 * @param fields of the step itself
 * @param site its place in the order of steps
 */
record Draft(String id, Fields fields, Site site, Tools tools) {
    /**
     * What reading takes.
     *
     * @param inner reads the steps of a list that stands inside the step
     */
    record Tools(
            Problems problems,
            TemplateCompiler templates,
            List<String> warnings,
            BiFunction<Tree, Site, List<FileStep>> inner) {}

    Problems problems() {
        return tools.problems();
    }

    /** What is allowed but probably not meant. */
    void warn(String sentence) {
        tools.warnings().add("Step '%s': %s".formatted(id, sentence));
    }

    /** The fields of a member of the step that is a map; null where it is absent or something else. */
    @Nullable
    Fields section(String name) {
        return Fields.of(fields.get(name), name, problems());
    }

    /** A member of a map with its expressions compiled; null where it is absent. */
    @Nullable
    Template template(Fields of, String name, CelKind... wanted) {
        return template(of, name, Site.Kind.STEP, wanted);
    }

    @Nullable
    Template template(Fields of, String name, Site.Kind kind, CelKind... wanted) {
        Tree tree = of.get(name);
        return tree == null ? null : tools.templates().compile(tree, site.as(kind), Set.of(wanted));
    }

    /** The same, and its absence is a mistake. */
    @Nullable
    Template needed(Fields of, String name, CelKind... wanted) {
        Template template = template(of, name, wanted);
        if (template == null) {
            problems().add(of.spotOf(name), "%s is missing.".formatted(name));
        }
        return template;
    }

    /** A member of the step as it stands in the file; empty where it is absent or more than a line. */
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
