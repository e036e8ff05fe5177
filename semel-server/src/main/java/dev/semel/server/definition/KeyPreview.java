package dev.semel.server.definition;

import dev.semel.server.language.Expression;
import dev.semel.server.language.Failure;
import dev.semel.server.language.FieldRef;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Template;
import dev.semel.server.steps.FileStep;
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
public record KeyPreview(@Nullable String key, @Nullable String problem) {
    private static final String PERSONAL = "it reads personal data, which is not shown here";
    private static final String DERIVED =
            "it computes with step results, which may contain personal data; only a plain path is shown here";

    /** Input and step results of a run. */
    public record Facts(JsonNode input, Map<String, JsonNode> results) {}

    /**
     * A run's real values and the masked values that users may see.
     *
     * @param shown the same values with masks
     * @param personal input fields that any version marks as personal data
     */
    public record Known(Facts held, Facts shown, Set<String> personal) {}

    /**
     * Null if the step has no key of its own.
     *
     * <p>The key is computed from the masked values; if it reads a masked value, it is not shown. That depends only on
     * what it reads, never on the result: otherwise an author could probe personal data with drafts.
     */
    public static @Nullable KeyPreview of(Definition definition, String step, Known known) {
        Template template = definition
                .steps()
                .filter(one -> one.id().equals(step))
                .findFirst()
                .map(FileStep::act)
                .map(act -> act.effectKey())
                .orElse(null);
        if (template == null) {
            return null;
        }
        String hidden = known.personal().isEmpty()
                ? null
                : template.expressions()
                        .map(expression -> hidden(expression, known))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
        if (hidden != null) {
            return new KeyPreview(null, hidden);
        }
        try {
            Scope scope = Scope.ofRun(known.shown().input(), known.shown().results(), "")
                    .withStep("step_of_this_run");
            JsonNode value = template.fill(scope, new ResultSize());
            return value.isString() || value.isNumber()
                    ? new KeyPreview(value.asString(), null)
                    : new KeyPreview(null, "it returns neither text nor a number");
        } catch (Failure failure) {
            return new KeyPreview(null, failure.because());
        }
    }

    /** Why the expression's result is not shown; null if it is. */
    private static @Nullable String hidden(Expression expression, Known known) {
        boolean plain = expression instanceof Expression.Plain;
        for (FieldRef path : expression.reads()) {
            if (path.root().equals("steps") && !plain) {
                return DERIVED;
            }
            if (personal(path, known.personal())
                    || !Objects.equals(value(path, known.held()), value(path, known.shown()))) {
                return PERSONAL;
            }
        }
        return null;
    }

    private static boolean personal(FieldRef path, Set<String> fields) {
        return path.root().equals("input")
                && (path.parts().isEmpty()
                        || fields.contains(path.parts().getFirst().toString()));
    }

    private static @Nullable JsonNode value(FieldRef path, Facts facts) {
        if (path.root().equals("input")) {
            return Expression.inside(facts.input(), path.parts());
        }
        JsonNode result = path.root().equals("steps") && !path.parts().isEmpty()
                ? facts.results().get(path.parts().getFirst().toString())
                : null;
        return result == null
                ? null
                : Expression.inside(result, path.parts().subList(1, path.parts().size()));
    }
}
