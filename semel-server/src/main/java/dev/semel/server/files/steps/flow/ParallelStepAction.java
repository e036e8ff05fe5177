package dev.semel.server.files.steps.flow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Step kind `parallel: {crm: [steps], mail: [steps]}`: runs branches concurrently and continues when all are done. */
record ParallelStepAction(Map<String, List<YamlStep>> named) implements CompiledYamlStepAction {
    private static final int MOST_BRANCHES = 32;

    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        if (!(draft.fields().get("parallel") instanceof YamlNode.MapNode branches)
                || branches.members().isEmpty()
                || branches.members().size() > MOST_BRANCHES) {
            draft.addError(
                    draft.fields().valueRange("parallel"),
                    "parallel must be a map of 1 to %d branches; each branch is a name with a list of steps."
                            .formatted(MOST_BRANCHES));
            return null;
        }
        Map<String, List<YamlStep>> read = new LinkedHashMap<>();
        branches.members().forEach((name, branch) -> {
            if (!YamlStepReader.ID.matcher(name).matches()) {
                draft.addError(
                        branch.nameRange(),
                        "a branch name must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                + " digits or _.");
            }
            read.put(name, draft.readNested(branch.value(), draft.context()));
        });
        return new ParallelStepAction(read);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        List<String> names = new ArrayList<>(named.keySet());
        List<YamlStepExecutionContext> ended = context.durable()
                .forEach(
                        context.id(),
                        new DurableWorkflowOperations.KeyedItems<>(
                                names, new ArrayList<>(named.values()), names.size()),
                        (scope, steps) -> branch(context, scope, steps));
        ObjectNode done = JsonNodeFactory.instance.objectNode();
        for (int i = 0; i < names.size(); i++) {
            context.addResultsOf(ended.get(i));
            done.put(names.get(i), true);
        }
        return done;
    }

    private static YamlStepExecutionContext branch(
            YamlStepExecutionContext context, DurableWorkflowOperations scope, List<YamlStep> steps) throws Exception {
        YamlStepExecutionContext inside = context.branch(scope, Map.of());
        StepSequenceRunner.run(steps, inside);
        return inside;
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.empty();
    }

    @Override
    public List<YamlStep> nestedSteps() {
        return named.values().stream().flatMap(List::stream).toList();
    }

    @Override
    public Map<String, List<YamlStep>> branches() {
        Map<String, List<YamlStep>> all = new LinkedHashMap<>();
        named.forEach((name, steps) -> all.put("[" + name + "]/", steps));
        return all;
    }
}
