package dev.semel.server.files.expressions;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The variables that an expression can read during evaluation.
 *
 * <p>Publishing decides which of them a place in the file offers ({@link ExpressionCompileContext}); other names are empty here.
 *
 * @param steps results of the steps that have run; a skipped step is absent
 * @param cohortResults results of the `cohort` steps of this run by the step whose result has them
 * @param header names are case-insensitive
 * @param variables loop variables, the HTTP response, and recorded time and random values
 * @param secrets looks up a secret when it is read; values are never stored
 */
public record ExpressionScope(
        JsonNode input,
        Map<String, JsonNode> steps,
        Map<String, List<JsonNode>> cohortResults,
        String runId,
        String stepId,
        Map<String, String> header,
        Map<String, JsonNode> variables,
        UnaryOperator<String> secrets) {
    /** Name of the recorded start time; authors read it as `run.started_at`. */
    public static final String STARTED_AT = "@started";

    private static final UnaryOperator<String> NO_SECRETS = name -> {
        throw new ExpressionEvaluationException("secrets cannot be read here");
    };

    public static ExpressionScope ofInput(JsonNode input) {
        return ofRun(input, Map.of(), "");
    }

    public static ExpressionScope ofRun(JsonNode input, Map<String, JsonNode> steps, String runId) {
        return new ExpressionScope(input, steps, Map.of(), runId, "", Map.of(), Map.of(), NO_SECRETS);
    }

    public ExpressionScope withCohortResults(Map<String, List<JsonNode>> value) {
        return new ExpressionScope(input, steps, value, runId, stepId, header, variables, secrets);
    }

    public ExpressionScope withHeader(Map<String, String> value) {
        return new ExpressionScope(input, steps, cohortResults, runId, stepId, value, variables, secrets);
    }

    public ExpressionScope withStep(String id) {
        return new ExpressionScope(input, steps, cohortResults, runId, id, header, variables, secrets);
    }

    public ExpressionScope with(Map<String, JsonNode> names) {
        if (names.isEmpty()) {
            return this;
        }
        Map<String, JsonNode> all = new LinkedHashMap<>(variables);
        all.putAll(names);
        return new ExpressionScope(
                input, steps, cohortResults, runId, stepId, header, Collections.unmodifiableMap(all), secrets);
    }

    public ExpressionScope with(String name, JsonNode value) {
        return with(Map.of(name, value));
    }

    public ExpressionScope withSecrets(UnaryOperator<String> value) {
        return new ExpressionScope(input, steps, cohortResults, runId, stepId, header, variables, value);
    }

    @Nullable
    Object variable(String name) {
        return switch (name) {
            case "input" -> CelJsonConverter.fromJson(input);
            case "steps" -> CelJsonConverter.fromSteps(steps, cohortResults);
            case "run" -> {
                JsonNode started = variables.get(STARTED_AT);
                yield started == null ? Map.of("id", runId) : Map.of("id", runId, "started_at", started.asString());
            }
            case "step" -> Map.of("id", stepId);
            case "header" -> header;
            case "secret" -> new SecretMapView(secrets);
            default -> {
                JsonNode value = variables.get(name);
                yield value == null ? null : CelJsonConverter.fromJson(value);
            }
        };
    }

    /** Gives CEL access to secrets one by one, never as a list. */
    private static final class SecretMapView extends AbstractMap<String, Object> {
        private final UnaryOperator<String> secrets;

        SecretMapView(UnaryOperator<String> secrets) {
            this.secrets = secrets;
        }

        @Override
        public boolean containsKey(Object name) {
            return true;
        }

        @Override
        public Object get(Object name) {
            return secrets.apply(name.toString());
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            throw new ExpressionEvaluationException("secrets cannot be listed");
        }
    }
}
