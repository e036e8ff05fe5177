package dev.semel.server.definition;

import dev.semel.server.language.Failure;
import dev.semel.server.language.FieldRef;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Template;
import dev.semel.server.steps.FileStep;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What `idempotent.key` of a step would come to with the data of a run.
 *
 * @param key null where it cannot be said
 * @param problem why it cannot; null where it can
 */
public record KeyPreview(@Nullable String key, @Nullable String problem) {
    /** What is known of a run. */
    public record Known(JsonNode input, Map<String, JsonNode> results, Set<String> personal) {}

    /** Null where the step has no key of its own. What is made of personal fields is not shown. */
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
        if (template.expressions()
                .flatMap(expression -> expression.reads().stream())
                .anyMatch(path -> personal(path, known.personal()))) {
            return new KeyPreview(null, "it is made of personal data, which is not shown here");
        }
        try {
            Scope scope = Scope.ofRun(known.input(), known.results(), "").withStep("step_of_this_run");
            JsonNode value = template.fill(scope, new ResultSize());
            return value.isString() || value.isNumber()
                    ? new KeyPreview(value.asString(), null)
                    : new KeyPreview(null, "it gives neither text nor a number");
        } catch (Failure failure) {
            return new KeyPreview(null, failure.because());
        }
    }

    private static boolean personal(FieldRef path, Set<String> fields) {
        return path.root().equals("input")
                && !fields.isEmpty()
                && (path.parts().isEmpty()
                        || fields.contains(path.parts().getFirst().toString()));
    }
}
