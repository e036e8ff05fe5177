package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.definition.IdempotencyExplanation;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.steps.DeclaredEffect;
import dev.semel.server.steps.YamlStep;
import dev.semel.definition.WorkflowVersion;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the explanation of a workflow file: its steps, and the `check --explain` answers for trigger and effects. */
final class ExplanationRoutes {
    private final TriggerRoutes triggers;

    ExplanationRoutes(TriggerRoutes triggers) {
        this.triggers = triggers;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/workflows/{id}/explanation", TokenScope.READ, this::get);
    }

    private HttpResponse get(HttpRequest request) {
        WorkflowVersion workflow =
                triggers.findWorkflow(request.principal(), request.parameter("id")).published();
        if (!(workflow.body() instanceof FileWorkflow file)) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow " + workflow.name() + " is written in Java. The server explains only workflow files."
                            + " Nothing was changed.",
                    "Get its effects with GET /v1/workflows/{id}.");
        }
        WorkflowDefinition definition = file.definition();
        ObjectNode out = JsonViews.newObject();
        ArrayNode steps = out.putArray("steps");
        definition.topLevelSteps().forEach(step -> add(steps, step, null));
        addAnswers(out, definition);
        return JsonViews.ok(out);
    }

    /** Adds the six questions and the file's answers to each. */
    static void addAnswers(ObjectNode out, WorkflowDefinition definition) {
        ArrayNode questions = out.putArray("questions");
        IdempotencyExplanation.QUESTIONS.forEach(questions::add);
        ArrayNode items = out.putArray("items");
        for (IdempotencyExplanation one : IdempotencyExplanation.of(definition)) {
            ArrayNode answers = items.addObject().put("subject", one.subject()).putArray("answers");
            one.answers().forEach(answers::add);
        }
    }

    /** Adds the steps in file order. Steps in a branch or loop name their enclosing step. */
    private static void add(ArrayNode out, YamlStep step, @Nullable String inside) {
        DeclaredEffect effect = step.action().declaredEffect();
        out.addObject()
                .put("step", step.id())
                .put("kind", step.kind())
                .put("inside", inside)
                .put("conditional", step.when() != null)
                .put("target", effect == null ? null : effect.target())
                .put("protection", effect == null ? null : effect.protection());
        step.action().nestedSteps().forEach(one -> add(out, one, step.id()));
    }
}
