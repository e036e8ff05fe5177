package dev.semel.server.language;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The variables that an expression can read during evaluation.
 *
 * <p>Publishing decides which of them a place in the file offers ({@link Site}); other names are empty here.
 *
 * @param steps results of the steps that have run; a skipped step is absent
 * @param header names are case-insensitive
 * @param more loop variables, the HTTP response, and recorded time and random values
 * @param secrets looks up a secret when it is read; values are never stored
 */
public record Scope(
        JsonNode input,
        Map<String, JsonNode> steps,
        String runId,
        String stepId,
        Map<String, String> header,
        Map<String, JsonNode> more,
        UnaryOperator<String> secrets) {
    /** Name of the recorded start time; authors read it as `run.started_at`. */
    public static final String STARTED = "@started";

    private static final UnaryOperator<String> NO_SECRETS = name -> {
        throw new Failure("secrets cannot be read here");
    };

    public static Scope ofInput(JsonNode input) {
        return ofRun(input, Map.of(), "");
    }

    public static Scope ofRun(JsonNode input, Map<String, JsonNode> steps, String runId) {
        return new Scope(input, steps, runId, "", Map.of(), Map.of(), NO_SECRETS);
    }

    public Scope withHeader(Map<String, String> value) {
        return new Scope(input, steps, runId, stepId, value, more, secrets);
    }

    public Scope withStep(String id) {
        return new Scope(input, steps, runId, id, header, more, secrets);
    }

    public Scope with(Map<String, JsonNode> names) {
        if (names.isEmpty()) {
            return this;
        }
        Map<String, JsonNode> all = new LinkedHashMap<>(more);
        all.putAll(names);
        return new Scope(input, steps, runId, stepId, header, Collections.unmodifiableMap(all), secrets);
    }

    public Scope with(String name, JsonNode value) {
        return with(Map.of(name, value));
    }

    public Scope withSecrets(UnaryOperator<String> value) {
        return new Scope(input, steps, runId, stepId, header, more, value);
    }

    @Nullable
    Object variable(String name) {
        return switch (name) {
            case "input" -> Values.fromJson(input);
            case "steps" -> Values.fromSteps(steps);
            case "run" -> {
                JsonNode started = more.get(STARTED);
                yield started == null ? Map.of("id", runId) : Map.of("id", runId, "started_at", started.asString());
            }
            case "step" -> Map.of("id", stepId);
            case "header" -> header;
            case "secret" -> new SecretView(secrets);
            default -> {
                JsonNode value = more.get(name);
                yield value == null ? null : Values.fromJson(value);
            }
        };
    }

    /** Gives CEL access to secrets one by one, never as a list. */
    private static final class SecretView extends AbstractMap<String, Object> {
        private final UnaryOperator<String> secrets;

        SecretView(UnaryOperator<String> secrets) {
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
            throw new Failure("secrets cannot be listed");
        }
    }
}
