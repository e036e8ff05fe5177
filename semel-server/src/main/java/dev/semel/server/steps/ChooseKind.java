package dev.semel.server.steps;

import dev.semel.server.language.Fields;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Step kind `choose: [{when, steps}, {else: true, steps}]`: runs the steps of the first case whose condition is true.
 */
final class ChooseKind implements Kind {
    @Override
    public String word() {
        return "choose";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        List<Tree> items = draft.fields().items("choose");
        if (items.isEmpty()) {
            draft.wrong(draft.fields().spotOfValue("choose"), "choose must be a list of cases: [{when, steps}, …].");
            return null;
        }
        List<Case> cases = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Tree item = items.get(i);
            Fields fields = Fields.of(item, "a case of choose", draft.problems());
            if (fields == null) {
                continue;
            }
            fields.allow(Set.of("when", "else", "steps"), Set.of());
            boolean last = i == items.size() - 1;
            cases.add(new Case(condition(draft, fields, last), steps(draft, fields)));
        }
        return new Choice(List.copyOf(cases));
    }

    /**
     * One case of a choose step.
     *
     * @param when null for `else`
     */
    private record Case(@Nullable Template when, List<FileStep> steps) {}

    private static @Nullable Template condition(Draft draft, Fields fields, boolean last) {
        boolean otherwise = fields.flag("else", false);
        if (otherwise == (fields.get("when") != null)) {
            draft.wrong(fields.spot(), "a case must have either when: ${ … } or else: true.");
        } else if (otherwise && !last) {
            draft.wrong(fields.spotOf("else"), "else must be the last case; the cases after it could never run.");
        }
        return StepReader.condition(draft.tools(), fields, "when", draft.site());
    }

    private static List<FileStep> steps(Draft draft, Fields fields) {
        Tree steps = fields.get("steps");
        if (steps == null) {
            Spot spot = fields.spot();
            draft.wrong(spot.narrowed(spot.start(), spot.start()), "the case has no steps; add steps: [ … ].");
            return List.of();
        }
        return draft.inner(steps, draft.site());
    }

    /** Runs the steps of the first matching case. */
    private record Choice(List<Case> cases) implements Act {
        @Override
        public JsonNode run(Play context) throws Exception {
            for (int i = 0; i < cases.size(); i++) {
                Template when = cases.get(i).when();
                if (when == null || context.isTrue(when)) {
                    Steps.run(cases.get(i).steps(), context);
                    return JsonNodeFactory.instance.objectNode().put("chosen", i + 1);
                }
            }
            return JsonNodeFactory.instance.objectNode().putNull("chosen");
        }

        @Override
        public Stream<Template> templates() {
            return cases.stream().map(Case::when).filter(Objects::nonNull);
        }

        @Override
        public List<FileStep> inner() {
            return cases.stream().flatMap(one -> one.steps().stream()).toList();
        }
    }
}
