package dev.semel.server.files.steps;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The context of one step execution: the run, its results so far and the names in scope.
 *
 * @param results of the steps so far; shared by all steps of one branch, which is one thread
 * @param cohortResults results of `cohort` steps by the step whose result has them; shared like results
 * @param variables loop variables and recorded time and random values
 * @param id the step's id in the file; empty for the output
 */
public record YamlStepExecutionContext(
        RunContext run,
        DurableWorkflowOperations durable,
        Map<String, JsonNode> results,
        Map<String, List<JsonNode>> cohortResults,
        Map<String, JsonNode> variables,
        String id) {
    /** The part of the context that all steps of a run share. */
    public record RunContext(
            String workflow,
            JsonNode input,
            YamlStepDependencies services,
            @Nullable YamlValueTemplate object) {
        /** A text for users, so an expression that fails gives none. */
        @Nullable
        String businessObject() {
            if (object == null) {
                return null;
            }
            try {
                JsonNode value = object.evaluateIdentifier(ExpressionScope.ofInput(input), new StepResultSizeLimit());
                return value.isString() ? value.stringValue() : null;
            } catch (ExpressionEvaluationException failure) {
                return null;
            }
        }
    }

    /** @param timed whether to record the start time first */
    public static YamlStepExecutionContext begin(RunContext course, DurableWorkflowOperations durable, boolean timed) {
        Map<String, JsonNode> names = timed
                ? Map.of(
                        ExpressionScope.STARTED_AT,
                        JsonNodeFactory.instance.stringNode(durable.now().toString()))
                : Map.of();
        return new YamlStepExecutionContext(course, durable, new LinkedHashMap<>(), new LinkedHashMap<>(), names, "");
    }

    /** The context of this step; records the time and random values that it reads before its code runs. */
    public YamlStepExecutionContext forStep(YamlStep step) {
        Map<String, JsonNode> more = new LinkedHashMap<>(variables);
        step.recordedValues().stream().sorted().forEach(name -> more.put(name, recorded(name)));
        return new YamlStepExecutionContext(run, durable, results, cohortResults, more, step.id());
    }

    private JsonNode recorded(String name) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        return switch (name) {
            case "@now" -> json.stringNode(durable.now().toString());
            case "@uuid" -> json.stringNode(durable.uuid().toString());
            case "@random" -> json.numberNode(durable.random());
            default -> throw new IllegalStateException("unknown recorded value " + name);
        };
    }

    /** The same step with another durable scope, for a compensation. */
    public YamlStepExecutionContext withDurable(DurableWorkflowOperations scope) {
        return new YamlStepExecutionContext(run, scope, results, cohortResults, variables, id);
    }

    /** A branch with its own results, which starts with all results known here. */
    public YamlStepExecutionContext branch(DurableWorkflowOperations scope, Map<String, JsonNode> items) {
        Map<String, JsonNode> more = new LinkedHashMap<>(variables);
        more.putAll(items);
        return new YamlStepExecutionContext(
                run, scope, new LinkedHashMap<>(results), new LinkedHashMap<>(cohortResults), more, id);
    }

    /** Takes over what a branch of this context added. */
    public void addResultsOf(YamlStepExecutionContext branch) {
        branch.results().forEach(results::putIfAbsent);
        branch.cohortResults().forEach(cohortResults::putIfAbsent);
    }

    /** The results of the `cohort` steps that this branch added, in their order. */
    public List<JsonNode> addedCohortResults(YamlStepExecutionContext outside) {
        return cohortResults.entrySet().stream()
                .filter(one -> !outside.cohortResults().containsKey(one.getKey()))
                .flatMap(one -> one.getValue().stream())
                .toList();
    }

    public YamlStepDependencies services() {
        return run.services();
    }

    public ExpressionScope scope() {
        ExpressionScope scope = ExpressionScope.ofRun(run.input(), results, durable.runId())
                .withCohortResults(cohortResults)
                .with(variables);
        return id.isEmpty() ? scope : scope.withStep(durable.stepId(id));
    }

    public JsonNode evaluate(YamlValueTemplate template) {
        return evaluate(template, scope());
    }

    public JsonNode evaluateOrEmpty(@Nullable YamlValueTemplate template) {
        return template == null ? JsonNodeFactory.instance.objectNode() : evaluate(template);
    }

    public JsonNode evaluate(YamlValueTemplate template, ExpressionScope scope) {
        return evaluate(template, scope, id.isEmpty() ? "The output" : "Step '%s'".formatted(id));
    }

    private JsonNode evaluate(YamlValueTemplate template, ExpressionScope scope, String place) {
        try {
            return template.evaluate(scope, new StepResultSizeLimit());
        } catch (ExpressionEvaluationException failure) {
            throw evaluationFailed(place, failure.reason());
        }
    }

    /** Like {@link #evaluate}, for a key or another identifier: a number becomes its canonical text. */
    public JsonNode evaluateIdentifier(YamlValueTemplate template, ExpressionScope scope) {
        try {
            return template.evaluateIdentifier(scope, new StepResultSizeLimit());
        } catch (ExpressionEvaluationException failure) {
            throw evaluationFailed("Step '%s'".formatted(id), failure.reason());
        }
    }

    /** A text, or a number as its canonical text; fails for other types and names the field. */
    public String text(YamlValueTemplate template, String what) {
        JsonNode value = evaluateIdentifier(template, scope());
        if (!value.isString()) {
            throw evaluationFailed(
                    what + " of step '" + id + "'",
                    "it returned %s instead of text".formatted(JsonValueTypeNames.nameOf(value)));
        }
        return value.stringValue();
    }

    public @Nullable String optionalText(@Nullable YamlValueTemplate template, String what) {
        return template == null ? null : text(template, what);
    }

    public boolean isTrue(YamlValueTemplate when) {
        return isTrue(when, "The condition");
    }

    public boolean isTrue(YamlValueTemplate when, String what) {
        String place = what + " of step '" + id + "'";
        JsonNode value = evaluate(when, scope(), place);
        if (!value.isBoolean()) {
            throw evaluationFailed(
                    place, "it returned %s instead of true or false".formatted(JsonValueTypeNames.nameOf(value)));
        }
        return value.booleanValue();
    }

    /** @param place what could not be evaluated, e.g. "The recipient of step 'welcome'" */
    public SemelException evaluationFailed(String place, String because) {
        SemelException failure = new SemelException(
                ErrorCode.INVALID_INPUT,
                ("%s of workflow '%s' could not be evaluated, because %s. Results of earlier steps are kept; "
                                + "no later step ran.")
                        .formatted(place, run.workflow(), because),
                "Send data that has the value, or handle its absence with default(value, other) or has(value).");
        return id.isEmpty() ? failure : failure.with("step", id);
    }
}
