package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.Explanation;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.steps.Declared;
import dev.semel.server.steps.FileStep;
import dev.semel.workflow.Published;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A workflow told to people: its steps in order, and what `check --explain` says of the trigger and of each effect. */
final class Explanations {
    private final Triggers triggers;

    Explanations(Triggers triggers) {
        this.triggers = triggers;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/workflows/{id}/explanation", Scope.READ, this::get);
    }

    private Answer get(Request request) {
        Published workflow =
                triggers.workflow(request.principal(), request.parameter("id")).published();
        if (!(workflow.body() instanceof FileWorkflow file)) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow " + workflow.name() + " is written in Java: there is no file that could be explained.",
                    "Its effects are listed at GET /v1/workflows/{id}.");
        }
        Definition definition = file.definition();
        ObjectNode out = Views.object();
        ArrayNode steps = out.putArray("steps");
        definition.outerSteps().forEach(step -> add(steps, step, null));
        answers(out, definition);
        return Views.ok(out);
    }

    /** The six questions, and what the file answers to each. */
    static void answers(ObjectNode out, Definition definition) {
        ArrayNode questions = out.putArray("questions");
        Explanation.QUESTIONS.forEach(questions::add);
        ArrayNode items = out.putArray("items");
        for (Explanation one : Explanation.of(definition)) {
            ArrayNode answers = items.addObject().put("subject", one.subject()).putArray("answers");
            one.answers().forEach(answers::add);
        }
    }

    /** In the order of the file; those inside of a branch or a loop say which one that is. */
    private static void add(ArrayNode out, FileStep step, @Nullable String inside) {
        Declared effect = step.act().effect();
        out.addObject()
                .put("step", step.id())
                .put("kind", step.kind())
                .put("inside", inside)
                .put("conditional", step.when() != null)
                .put("target", effect == null ? null : effect.target())
                .put("protection", effect == null ? null : effect.protection());
        step.act().inner().forEach(one -> add(out, one, step.id()));
    }
}
