package dev.semel.server.files.steps.flow;

import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Step kind `choose: [{when, steps}, {else: true, steps}]`: runs the steps of the first case that is true. */
record ChooseStepAction(List<ChooseCase> cases) implements CompiledYamlStepAction {
    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        List<YamlNode> items = draft.fields().items("choose");
        if (items.isEmpty()) {
            draft.addError(
                    draft.fields().valueRange("choose"),
                    "`choose` must be a list of cases; each case has `when` (or `else`) and `steps`.");
            return null;
        }
        List<ChooseCase> cases = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            YamlNode item = items.get(i);
            YamlMapReader fields = YamlMapReader.of(item, "a case of choose", draft.problems());
            if (fields == null) {
                continue;
            }
            fields.allowOnly(Set.of("when", "else", "steps"));
            boolean last = i == items.size() - 1;
            cases.add(new ChooseCase(condition(draft, fields, last), steps(draft, fields)));
        }
        return new ChooseStepAction(List.copyOf(cases));
    }

    /** @param when null for `else` */
    private record ChooseCase(@Nullable YamlValueTemplate when, List<YamlStep> steps) {}

    private static @Nullable YamlValueTemplate condition(
            YamlStepReadContext draft, YamlMapReader fields, boolean last) {
        boolean otherwise = fields.flag("else", false);
        if (otherwise == (fields.get("when") != null)) {
            draft.addError(fields.range(), "a case must have either `when: ${ … }` or `else: true`.");
        } else if (otherwise && !last) {
            draft.addError(fields.nameRange("else"), "`else` must be the last case; the cases after it never run.");
        }
        return YamlStepReadContext.condition(draft.tools(), fields, "when", draft.context());
    }

    private static List<YamlStep> steps(YamlStepReadContext draft, YamlMapReader fields) {
        YamlNode steps = fields.get("steps");
        if (steps == null) {
            YamlSourceRange spot = fields.range();
            draft.addError(spot.narrow(spot.start(), spot.start()), "the case has no steps; add steps: [ … ].");
            return List.of();
        }
        return draft.readNested(steps, draft.context());
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) throws Exception {
        for (int i = 0; i < cases.size(); i++) {
            YamlValueTemplate when = cases.get(i).when();
            if (when == null || context.isTrue(when)) {
                StepSequenceRunner.run(cases.get(i).steps(), context);
                return JsonNodeFactory.instance.objectNode().put("chosen", i + 1);
            }
        }
        return JsonNodeFactory.instance.objectNode().putNull("chosen");
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return cases.stream().map(ChooseCase::when).filter(Objects::nonNull);
    }

    @Override
    public List<YamlStep> nestedSteps() {
        return cases.stream().flatMap(one -> one.steps().stream()).toList();
    }
}
