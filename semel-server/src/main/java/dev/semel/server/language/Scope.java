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
 * The names an expression can read while it runs. Which of them a place in the file offers is decided when the file is
 * published ({@link Site}); a name not offered there is simply empty here.
 *
 * @param steps results of the steps that ran so far; a skipped step is absent
 * @param header names are looked up without regard to case
 * @param more items of loops, an answer of the outside world, and what was recorded of time and chance
 * @param secrets looked up only when one is read, and never kept
 */
public record Scope(
        JsonNode input,
        Map<String, JsonNode> steps,
        String runId,
        String stepId,
        Map<String, String> header,
        Map<String, JsonNode> more,
        UnaryOperator<String> secrets) {
    /** When the run began, among the names; an author reads it as `run.started_at`. */
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

    /** Secrets as the expression engine asks for them: one by one, never all of them. */
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
