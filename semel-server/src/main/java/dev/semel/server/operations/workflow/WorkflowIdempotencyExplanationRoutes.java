package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowVersion;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.WorkflowIdempotencyExplanation;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the explanation of a workflow file: its steps, and the `check --explain` answers for trigger and effects. */
public record WorkflowIdempotencyExplanationRoutes(SemelRuntime semel) {
    public void addTo(ApiRouter router) {
        router.get("/v1/workflows/{id}/explanation", TokenScope.READ, router.cpuBound(this::get));
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        WorkflowVersion workflow = StoreReader.workflow(
                        semel, request.principal().workspace(), request.parameter("id"))
                .published();
        if (!(workflow.body() instanceof PublishedYamlWorkflow file)) {
            throw ApiErrors.notFound(
                    "Workflow " + workflow.name() + " is written in Java. The server explains only workflow files."
                            + " Nothing was changed.",
                    "Get its effects with GET /v1/workflows/{id}.");
        }
        WorkflowDefinition definition = file.definition();
        ObjectNode out = RunJsonRenderer.newObject();
        ArrayNode steps = out.putArray("steps");
        definition.topLevelSteps().forEach(step -> add(steps, step, null));
        addAnswers(out, definition);
        return RunJsonRenderer.ok(out);
    }

    static void addAnswers(ObjectNode out, WorkflowDefinition definition) {
        WorkflowIdempotencyExplanation.QUESTIONS.forEach(out.putArray("questions")::add);
        ArrayNode items = out.putArray("items");
        for (WorkflowIdempotencyExplanation one : WorkflowIdempotencyExplanation.of(definition)) {
            one.answers()
                    .forEach(items.addObject().put("subject", one.subject()).putArray("answers")::add);
        }
    }

    /** Adds the steps in file order. Steps in a branch or loop name their enclosing step. */
    private static void add(ArrayNode out, YamlStep step, @Nullable String inside) {
        DeclaredEffect effect = step.action().declaredEffect();
        out.addObject()
                .put("step", step.id())
                .put("kind", step.kind())
                .put("parent_step", inside)
                .put("conditional", step.when() != null)
                .put("target", effect == null ? null : effect.target())
                .put("protection", effect == null ? null : effect.protection());
        step.action().nestedSteps().forEach(one -> add(out, one, step.id()));
    }
}
