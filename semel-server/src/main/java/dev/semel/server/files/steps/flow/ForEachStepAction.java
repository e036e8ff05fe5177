package dev.semel.server.files.steps.flow;

import dev.cel.common.types.CelKind;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import dev.semel.server.files.yaml.YamlNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `for_each: ${ list }`, `as`, `item_key`, `parallel`, `steps`: runs the same steps for each item.
 *
 * <p>Item results are recorded by item key, not by position, so that a reordered list finds its records.
 *
 * @param identity the loop variable and item key as written
 */
record ForEachStepAction(
        String as,
        YamlValueTemplate list,
        YamlValueTemplate key,
        String identity,
        int atOnce,
        List<YamlStep> nestedSteps)
        implements CompiledYamlStepAction {
    private static final int MOST_AT_ONCE = 64;

    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlValueTemplate list = draft.requiredTemplate(draft.fields(), "for_each", CelKind.LIST);
        String as = draft.fields().get("as") == null ? "item" : draft.fields().text("as");
        if (as == null || !isFree(as, draft)) {
            return null;
        }
        Set<String> items = new LinkedHashSet<>(draft.context().loopVariables());
        items.add(as);
        ExpressionCompileContext inside = new ExpressionCompileContext(
                ContextKind.STEP,
                draft.context().earlierSteps(),
                draft.context().allSteps(),
                items);
        YamlValueTemplate key = key(draft, inside);
        Integer atOnce = draft.fields().number("parallel", 1, MOST_AT_ONCE);
        YamlNode steps = draft.fields().get("steps");
        if (steps == null) {
            draft.addError(draft.fields().nameRange("for_each"), "the loop has no steps; add steps: [ … ].");
            return null;
        }
        List<YamlStep> inner = draft.readNested(steps, inside);
        return list == null || key == null
                ? null
                : new ForEachStepAction(
                        as,
                        list,
                        key,
                        as + ": " + draft.fields().sourceText("item_key"),
                        atOnce == null ? 1 : atOnce,
                        inner);
    }

    private static boolean isFree(String as, YamlStepReadContext draft) {
        boolean taken = ExpressionCompileContext.isReserved(as) || YamlStepReader.RESERVED.contains(as);
        if (!YamlStepReader.ID.matcher(as).matches() || taken) {
            draft.addError(
                    draft.fields().valueRange("as"),
                    taken
                            ? "'%s' cannot be a loop variable, because the name is reserved; choose another name."
                                    .formatted(as)
                            : "`as` must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                    + " digits or _.");
            return false;
        }
        if (draft.context().loopVariables().contains(as)) {
            draft.addError(
                    draft.fields().nameRange("for_each"),
                    "'%s' is already the variable of an outer loop; set another name with `as`.".formatted(as));
            return false;
        }
        return true;
    }

    private static @Nullable YamlValueTemplate key(YamlStepReadContext draft, ExpressionCompileContext inside) {
        YamlNode tree = draft.fields().get("item_key");
        if (tree == null) {
            draft.addError(
                    draft.fields().nameRange("for_each"),
                    "item_key is missing; Semel records the results of an item by its key, not by its position.",
                    "no item key",
                    "Add an id of the item, e.g. item_key: ${ item.id }.");
            return null;
        }
        return draft.tools()
                .templates()
                .compile(tree, inside.withKind(ContextKind.EFFECT_KEY), YamlValueTemplateCompiler.IDENTIFIER);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        JsonNode found = context.evaluate(list);
        if (!found.isArray()) {
            throw context.evaluationFailed(
                    "Step '" + context.id() + "'", "for_each needs a list, not " + JsonValueTypeNames.nameOf(found));
        }
        List<JsonNode> items = new ArrayList<>();
        List<String> keys = new ArrayList<>();
        ExpressionScope scope = context.scope();
        for (JsonNode item : found) {
            items.add(item);
            keys.add(key(context, scope.with(as, item)));
        }
        List<ItemResult> results = context.durable()
                .forEach(
                        context.id(),
                        new DurableWorkflowOperations.KeyedItems<>(keys, items, atOnce),
                        (branch, item) -> one(context, branch, item));
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        results.forEach(one -> all.add(one.steps()));
        List<JsonNode> cohorts =
                results.stream().flatMap(one -> one.cohorts().stream()).toList();
        if (!cohorts.isEmpty()) {
            context.cohortResults().put(context.id(), cohorts);
        }
        return all;
    }

    /**
     * @param steps the results of the item's steps by id, which later steps can read
     * @param cohorts the results of its `cohort` steps
     */
    private record ItemResult(JsonNode steps, List<JsonNode> cohorts) {}

    private String key(YamlStepExecutionContext context, ExpressionScope scope) {
        JsonNode value = context.evaluateIdentifier(key, scope);
        if (!value.isString() || value.stringValue().isBlank()) {
            throw context.evaluationFailed(
                    "The item_key of step '" + context.id() + "'",
                    "it returned " + JsonValueTypeNames.nameOf(value) + " or an empty text");
        }
        return value.stringValue();
    }

    private ItemResult one(YamlStepExecutionContext context, DurableWorkflowOperations branch, JsonNode item)
            throws Exception {
        YamlStepExecutionContext inside = context.branch(branch, Map.of(as, item));
        StepSequenceRunner.run(nestedSteps, inside);
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        nestedSteps.stream().flatMap(YamlStep::withNested).forEach(step -> {
            JsonNode value = inside.results().get(step.id());
            if (value != null) {
                result.set(step.id(), value);
            }
        });
        return new ItemResult(result, inside.addedCohortResults(context));
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.of(list, key);
    }

    @Override
    public Map<String, List<YamlStep>> branches() {
        return Map.of("[]/", nestedSteps);
    }
}
