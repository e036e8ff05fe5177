package dev.semel.server.definition;

import dev.semel.server.expressions.EvaluationException;
import dev.semel.server.expressions.Expression;
import dev.semel.server.expressions.ExpressionScope;
import dev.semel.server.expressions.ResultSizeLimit;
import dev.semel.server.expressions.ValuePath;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.steps.YamlStep;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Preview of the effect key that a step's `idempotent.key` would give with the data of an existing run.
 *
 * @param key null if it cannot be shown
 * @param problem why it cannot be shown; null if it can
 */
public record EffectKeyPreview(
        @Nullable String key, @Nullable String problem) {
    private static final String PERSONAL = "it reads personal data, which is not shown here";
    private static final String DERIVED =
            "it computes with step results, which may contain personal data; only a plain path is shown here";

    /** Input and step results of a run. */
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
    public static @Nullable EffectKeyPreview of(WorkflowDefinition definition, String step, RunView known) {
        ValueTemplate template = definition
                .steps()
                .filter(one -> one.id().equals(step))
                .findFirst()
                .map(YamlStep::action)
                .map(act -> act.effectKey())
                .orElse(null);
        if (template == null) {
            return null;
        }
        String hidden = known.piiFields().isEmpty()
                ? null
                : template.expressions()
                        .map(expression -> hidden(expression, known))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
        if (hidden != null) {
            return new EffectKeyPreview(null, hidden);
        }
        try {
            ExpressionScope scope = ExpressionScope.ofRun(
                            known.maskedValues().input(), known.maskedValues().results(), "")
                    .withStep("step_of_this_run");
            JsonNode value = template.evaluate(scope, new ResultSizeLimit());
            return value.isString() || value.isNumber()
                    ? new EffectKeyPreview(value.asString(), null)
                    : new EffectKeyPreview(null, "it returns neither text nor a number");
        } catch (EvaluationException failure) {
            return new EffectKeyPreview(null, failure.reason());
        }
    }

    /** Why the expression's result is not shown; null if it is. */
    private static @Nullable String hidden(Expression expression, RunView known) {
        boolean plain = expression instanceof Expression.PathExpression;
        for (ValuePath path : expression.readPaths()) {
            if (path.root().equals("steps") && !plain) {
                return DERIVED;
            }
            if (personal(path, known.piiFields())
                    || !Objects.equals(value(path, known.values()), value(path, known.maskedValues()))) {
                return PERSONAL;
            }
        }
        return null;
    }

    private static boolean personal(ValuePath path, Set<String> fields) {
        return path.root().equals("input")
                && (path.parts().isEmpty()
                        || fields.contains(path.parts().getFirst().toString()));
    }

    private static @Nullable JsonNode value(ValuePath path, RunValues facts) {
        if (path.root().equals("input")) {
            return Expression.valueAt(facts.input(), path.parts());
        }
        JsonNode result = path.root().equals("steps") && !path.parts().isEmpty()
                ? facts.results().get(path.parts().getFirst().toString())
                : null;
        return result == null
                ? null
                : Expression.valueAt(
                        result, path.parts().subList(1, path.parts().size()));
    }
}
