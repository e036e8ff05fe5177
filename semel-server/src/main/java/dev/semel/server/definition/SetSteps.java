package dev.semel.server.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.workflow.Body;
import dev.semel.workflow.Durable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Runs the steps of a file one after the other. Each result is recorded under the id of its step; conditions and the
 * output are not, because they follow from the input and the recorded results and come out the same after a crash.
 */
record SetSteps(
        String workflow,
        List<StepReader.Step> steps,
        @Nullable Template output) implements Body {
    SetSteps {
        steps = List.copyOf(steps);
    }

    @Override
    public JsonNode run(Durable durable, JsonNode input) {
        Map<String, JsonNode> results = new LinkedHashMap<>();
        for (StepReader.Step step : steps) {
            String stepId = durable.stepId(step.id());
            Scope scope = new Scope(input, results, durable.runId(), stepId, Map.of());
            if (step.when() == null || isTrue(step.when(), scope, "The condition of step '%s'".formatted(step.id()))) {
                String place = "Step '%s'".formatted(step.id());
                results.put(step.id(), durable.step(step.id(), () -> filled(step.set(), scope, place)));
            }
        }
        Scope scope = new Scope(input, results, durable.runId(), "", Map.of());
        return output == null ? JsonNodeFactory.instance.nullNode() : filled(output, scope, "The output");
    }

    private boolean isTrue(Template when, Scope scope, String place) {
        JsonNode value = filled(when, scope, place);
        if (!value.isBoolean()) {
            throw failed(place, "it gave %s instead of true or false".formatted(Kinds.of(value)));
        }
        return value.booleanValue();
    }

    private JsonNode filled(Template template, Scope scope, String place) {
        try {
            return template.fill(scope, new ResultSize());
        } catch (Failure failure) {
            throw failed(place, failure.because());
        }
    }

    private SemelException failed(String place, String because) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                ("%s of workflow '%s' could not be evaluated, because %s. Results of earlier steps are kept; "
                                + "nothing after it ran.")
                        .formatted(place, workflow, because),
                "Send data that has the value, or make the expression bear its absence with default(value, other) or"
                        + " has(value).");
    }
}
