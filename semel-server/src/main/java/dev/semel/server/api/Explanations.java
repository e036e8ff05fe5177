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

/** Serves the explanation of a workflow file: its steps, and the `check --explain` answers for trigger and effects. */
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
                    "Workflow " + workflow.name() + " is written in Java. The server explains only workflow files."
                            + " Nothing was changed.",
                    "Get its effects with GET /v1/workflows/{id}.");
        }
        Definition definition = file.definition();
        ObjectNode out = Views.object();
        ArrayNode steps = out.putArray("steps");
        definition.outerSteps().forEach(step -> add(steps, step, null));
        answers(out, definition);
        return Views.ok(out);
    }

    /** Adds the six questions and the file's answers to each. */
    static void answers(ObjectNode out, Definition definition) {
        ArrayNode questions = out.putArray("questions");
        Explanation.QUESTIONS.forEach(questions::add);
        ArrayNode items = out.putArray("items");
        for (Explanation one : Explanation.of(definition)) {
            ArrayNode answers = items.addObject().put("subject", one.subject()).putArray("answers");
            one.answers().forEach(answers::add);
        }
    }

    /** Adds the steps in file order. Steps in a branch or loop name their enclosing step. */
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
