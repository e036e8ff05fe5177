package dev.semel.server.files.definition;

import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.WorkflowExpression;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStep;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param key null if it cannot be shown
 * @param problem why it cannot be shown; null if it can
 */
public record EffectIdempotencyKeyPreview(
        @Nullable String key, @Nullable String problem) {
    private static final String PERSONAL = "it reads personal data, which is not shown here";
    private static final String DERIVED =
            "the key is computed from step results, which may contain personal data, so it is not shown";

    public record RunValues(JsonNode input, Map<String, JsonNode> results) {}

    /**
     * A run's real values and the masked values that users may see.
     *
     * @param maskedValues the same values with masks
     * @param piiFields input fields that any version marks as personal data
     */
    public record RunView(RunValues values, RunValues maskedValues, Set<String> piiFields) {}

    /**
     * Null if the step has no key of its own.
     *
     * <p>The key is computed from the masked values; if it reads a masked value, it is not shown. That depends only on
     * what it reads, never on the result: otherwise an author could probe personal data with drafts.
     */
    public static @Nullable EffectIdempotencyKeyPreview of(
            WorkflowDefinition definition, String step, RunView runView) {
        YamlValueTemplate template = definition
                .steps()
                .filter(one -> one.id().equals(step))
                .findFirst()
                .map(YamlStep::action)
                .map(act -> act.effectKey())
                .orElse(null);
        if (template == null) {
            return null;
        }
        String hidden = runView.piiFields().isEmpty()
                ? null
                : template.expressions()
                        .map(expression -> hidden(expression, runView))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
        if (hidden != null) {
            return new EffectIdempotencyKeyPreview(null, hidden);
        }
        try {
            ExpressionScope scope = ExpressionScope.ofRun(
                            runView.maskedValues().input(),
                            runView.maskedValues().results(),
                            "")
                    .withStep("step_of_this_run");
            JsonNode value = template.evaluateIdentifier(scope, new StepResultSizeLimit());
            return value.isString()
                    ? new EffectIdempotencyKeyPreview(value.stringValue(), null)
                    : new EffectIdempotencyKeyPreview(null, "it returns neither text nor a number");
        } catch (ExpressionEvaluationException failure) {
            return new EffectIdempotencyKeyPreview(null, failure.reason());
        }
    }

    /** Why the expression's result is not shown; null if it is. */
    private static @Nullable String hidden(WorkflowExpression expression, RunView runView) {
        boolean plain = expression instanceof WorkflowExpression.PathExpression;
        for (ExpressionFieldPath path : expression.readPaths()) {
            if (path.root().equals("steps") && !plain) {
                return DERIVED;
            }
            if (personal(path, runView.piiFields())
                    || !Objects.equals(value(path, runView.values()), value(path, runView.maskedValues()))) {
                return PERSONAL;
            }
        }
        return null;
    }

    private static boolean personal(ExpressionFieldPath path, Set<String> fields) {
        return path.root().equals("input")
                && (path.parts().isEmpty()
                        || fields.contains(path.parts().getFirst().toString()));
    }

    private static @Nullable JsonNode value(ExpressionFieldPath path, RunValues facts) {
        if (path.root().equals("input")) {
            return WorkflowExpression.valueAt(facts.input(), path.parts());
        }
        JsonNode result = path.root().equals("steps") && !path.parts().isEmpty()
                ? facts.results().get(path.parts().getFirst().toString())
                : null;
        return result == null
                ? null
                : WorkflowExpression.valueAt(
                        result, path.parts().subList(1, path.parts().size()));
    }
}
