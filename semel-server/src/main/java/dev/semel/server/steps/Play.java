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
 * One run of a file, seen from one of its steps.
 *
 * @param results of the steps so far; shared by all steps of one branch, which is one thread
 * @param names items of the loops around the step, and what was recorded of time and chance
 * @param id the step's id in the file; empty for the output
 */
public record Play(
        Course course, Durable durable, Map<String, JsonNode> results, Map<String, JsonNode> names, String id) {
    /** What is the same for all steps of a run. */
    public record Course(String workflow, JsonNode input, Outside outside) {}

    /** @param timed whether its beginning is put on record, before anything else is */
    static Play begin(Course course, Durable durable, boolean timed) {
        Map<String, JsonNode> names = timed
                ? Map.of(
                        Scope.STARTED,
                        JsonNodeFactory.instance.stringNode(durable.now().toString()))
                : Map.of();
        return new Play(course, durable, new LinkedHashMap<>(), names, "");
    }

    /** The same run at this step; what it reads of time and chance is recorded now, before its code runs. */
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
            default -> throw new IllegalStateException("nothing is recorded under " + name);
        };
    }

    /** The same place with another record, as an undo has one. */
    Play on(Durable scope) {
        return new Play(course, scope, results, names, id);
    }

    /** A branch with results of its own, which begins with all that is known here. */
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

    /** Text or a number, as text; anything else is refused by what it is called in the file. */
    public String text(Template template, String what) {
        JsonNode value = fill(template);
        if (!value.isString() && !value.isNumber()) {
            throw failed(what + " of step '" + id + "'", "it gave %s instead of text".formatted(Kinds.of(value)));
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
            throw failed(place, "it gave %s instead of true or false".formatted(Kinds.of(value)));
        }
        return value.booleanValue();
    }

    /** @param place what could not be made, e.g. "The recipient of step 'welcome'" */
    public SemelException failed(String place, String because) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                ("%s of workflow '%s' could not be evaluated, because %s. Results of earlier steps are kept; "
                                + "nothing after it ran.")
                        .formatted(place, course.workflow(), because),
                "Send data that has the value, or make the expression bear its absence with default(value, other) or"
                        + " has(value).");
    }
}
