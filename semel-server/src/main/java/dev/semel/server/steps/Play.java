package dev.semel.server.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.language.Failure;
import dev.semel.server.language.Kinds;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Template;
import dev.semel.workflow.Durable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The context of one step execution: the run, its results so far and the names in scope.
 *
 * @param results of the steps so far; shared by all steps of one branch, which is one thread
 * @param names loop variables and recorded time and random values
 * @param id the step's id in the file; empty for the output
 */
public record Play(
        Course course, Durable durable, Map<String, JsonNode> results, Map<String, JsonNode> names, String id) {
    /** The part of the context that all steps of a run share. */
    public record Course(String workflow, JsonNode input, Outside outside) {}

    /** @param timed whether to record the start time first */
    static Play begin(Course course, Durable durable, boolean timed) {
        Map<String, JsonNode> names = timed
                ? Map.of(
                        Scope.STARTED,
                        JsonNodeFactory.instance.stringNode(durable.now().toString()))
                : Map.of();
        return new Play(course, durable, new LinkedHashMap<>(), names, "");
    }

    /** The context of this step; records the time and random values that it reads before its code runs. */
    Play at(FileStep step) {
        Map<String, JsonNode> more = new LinkedHashMap<>(names);
        step.recorded().stream().sorted().forEach(name -> more.put(name, recorded(name)));
        return new Play(course, durable, results, more, step.id());
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
    Play on(Durable scope) {
        return new Play(course, scope, results, names, id);
    }

    /** A branch with its own results, which starts with all results known here. */
    Play branch(Durable scope, Map<String, JsonNode> items) {
        Map<String, JsonNode> more = new LinkedHashMap<>(names);
        more.putAll(items);
        return new Play(course, scope, new LinkedHashMap<>(results), more, id);
    }

    public Outside outside() {
        return course.outside();
    }

    public Scope scope() {
        Scope scope = Scope.ofRun(course.input(), results, durable.runId()).with(names);
        return id.isEmpty() ? scope : scope.withStep(durable.stepId(id));
    }

    public JsonNode fill(Template template) {
        return fill(template, scope());
    }

    public JsonNode fill(Template template, Scope scope) {
        return fill(template, scope, id.isEmpty() ? "The output" : "Step '%s'".formatted(id));
    }

    private JsonNode fill(Template template, Scope scope, String place) {
        try {
            return template.fill(scope, new ResultSize());
        } catch (Failure failure) {
            throw failed(place, failure.because());
        }
    }

    /** A text or number as text; fails for other types and names the field. */
    public String text(Template template, String what) {
        JsonNode value = fill(template);
        if (!value.isString() && !value.isNumber()) {
            throw failed(what + " of step '" + id + "'", "it returned %s instead of text".formatted(Kinds.of(value)));
        }
        return value.asString();
    }

    public @Nullable String maybeText(@Nullable Template template, String what) {
        return template == null ? null : text(template, what);
    }

    boolean isTrue(Template when) {
        return isTrue(when, scope(), "The condition of step '%s'".formatted(id));
    }

    public boolean isTrue(Template when, Scope scope, String place) {
        JsonNode value = fill(when, scope, place);
        if (!value.isBoolean()) {
            throw failed(place, "it returned %s instead of true or false".formatted(Kinds.of(value)));
        }
        return value.booleanValue();
    }

    /** @param place what could not be evaluated, e.g. "The recipient of step 'welcome'" */
    public SemelException failed(String place, String because) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                ("%s of workflow '%s' could not be evaluated, because %s. Results of earlier steps are kept; "
                                + "no later step ran.")
                        .formatted(place, course.workflow(), because),
                "Send data that has the value, or handle its absence with default(value, other) or"
                        + " has(value).");
    }
}
