package dev.semel.server.api;

import dev.semel.runtime.Reviews;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.IdempotencyKey;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoredRows;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves actions on an existing run: cancel, signal and decide. */
final class RunActionRoutes {
    private static final Set<String> DECISIONS =
            Set.of("approve", "reject", "send", "suppress", "happened", "did_not_happen");

    private final SemelRuntime semel;
    private final JsonViews views;
    private final IdempotentActions actions;

    RunActionRoutes(SemelRuntime semel, JsonViews views, IdempotentActions actions) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
    }

    /** A repeat has no further effect; an ended run keeps its state. */
    HttpResponse cancel(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("reason"));
        RunHandle<JsonNode> run = run(request);
        boolean asked = run.cancel(request.principal().tokenId(), json.text("reason"));
        return answer(request, "cancelled", asked);
    }

    /**
     * The request's key is the signal's key: a repeat returns the first response. The store keeps a signal that
     * arrives before the run waits for it.
     */
    HttpResponse signal(HttpRequest request) {
        String name = request.parameter("name");
        JsonNode data = JsonBody.parse(request, Set.of("data")).value("data");
        IdempotencyKey given = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String key = given == null ? semel.newId().text() : given.text();
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        RunHandle<JsonNode> run = run(request);
        RunHandle.RunChange signal = run.signalChange(signalNamed(name), value, Key.of(key));
        // Signal keys are scoped to run and name, so that one event id can signal several runs.
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("run.signal " + run.id() + " " + name, StrictJson.write(value));
        return done(request, actionRequest, signal, "delivered");
    }

    /** Executes the change once per key; the response has the current status of the run. */
    @SuppressWarnings("unchecked") // the code only checks whether the change was made
    private HttpResponse done(HttpRequest request, IdempotentActions.ActionRequest actionRequest, RunHandle.@Nullable RunChange ruling, String what) {
        // If there is nothing to change, the server still looks for a stored response.
        StoreCommand<?> edit = ruling == null ? new StoreCommand.WakeRuns(List.of()) : ruling.edit();
        String runId = run(request).id();
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                actionRequest,
                (StoreCommand<Object>) edit,
                outcome -> Reviews.isApplied(outcome)
                        ? JsonViews.newObject().put("run_id", runId).put(what, true)
                        : null);
        if (ruling != null && done != null && !done.replayed()) {
            run(request).wakeAfter(ruling);
        }
        HttpResponse answer = answer(request, what, done != null);
        return done != null && done.replayed() ? IdempotentActions.addReplayedHeaders(answer) : answer;
    }

    static Signal<JsonNode> signalNamed(String name) {
        try {
            return Signal.of(name, JsonNode.class);
        } catch (IllegalArgumentException e) {
            throw invalidRequest("the signal name must have 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    /**
     * The first decision wins; later ones get an error unless they are the same request. A decision with a version
     * applies only to that version of the question.
     */
    HttpResponse decide(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("step", "decision", "result", "note", "version"));
        String step = json.text("step");
        String by = request.principal().tokenId();
        int version = ReviewRoutes.versionOf(json);
        RunHandle<JsonNode> run = run(request);
        boolean may = mayDecide(request, step);
        RunHandle.RunChange ruling = !may ? null : version == 0 ? ruling(run, json, by) : ruling(request, json, version);
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("run.decide", run.id(), StrictJson.write(json.body()));
        return done(request, actionRequest, ruling, "decided");
    }

    /** False if the review is not stored yet, so that only an administrator may decide it. */
    private boolean mayDecide(HttpRequest request, String step) {
        ReviewOperation.ReviewRow row = asked(request, step);
        if (row != null) {
            ReviewPermissions.requireMayDecide(request.principal(), row);
        }
        return row != null || request.principal().hasScope(TokenScope.ADMIN);
    }

    private RunHandle.@Nullable RunChange ruling(HttpRequest request, JsonBody json, int version) {
        String decision = decision(json);
        ReviewOperation.ReviewRow row = asked(request, json.text("step"));
        if (row == null || !Reviews.allowedDecisions(row.kind()).contains(decision)) {
            return null;
        }
        JsonNode result = decision.equals("happened") ? result(json.value("result")) : null;
        return semel.reviews()
                .decisionChange(
                        row,
                        new Reviews.DecisionRequest(decision, result, version),
                        new Reviews.DecidedBy(request.principal().tokenId(), json.text("note")));
    }

    private static String decision(JsonBody json) {
        String decision = json.text("decision");
        if (!DECISIONS.contains(decision)) {
            throw invalidRequest(
                    "decision must be one of approve, reject, send, suppress, happened (with result), did_not_happen");
        }
        return decision;
    }

    private ReviewOperation.@Nullable ReviewRow asked(HttpRequest request, String step) {
        StoredRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        return semel.reviews().find(run.ws(), ReviewOperation.id(run.id(), step));
    }

    private static RunHandle.@Nullable RunChange ruling(RunHandle<JsonNode> run, JsonBody json, String by) {
        String step = json.text("step");
        String note = json.text("note");
        return switch (decision(json)) {
            case "approve" -> run.approvalChange(step, true, by, note);
            case "reject" -> run.approvalChange(step, false, by, note);
            case "send" -> run.changedMessageChange(step, true, by, note);
            case "suppress" -> run.changedMessageChange(step, false, by, note);
            case "happened" -> run.outcomeChange(step, result(json.value("result")), by, note);
            default -> run.outcomeChange(step, null, by, note);
        };
    }

    private static JsonNode result(@Nullable JsonNode given) {
        return given == null ? JsonNodeFactory.instance.nullNode() : given;
    }

    private RunHandle<JsonNode> run(HttpRequest request) {
        StoredRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        return semel.run(row.ws(), row.runIdText());
    }

    private HttpResponse answer(HttpRequest request, String what, boolean done) {
        StoredRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        ObjectNode out = JsonViews.newObject();
        out.put("run_id", row.runIdText()).put("status", row.state().wireName()).put(what, done);
        return JsonViews.ok(out);
    }

    static SemelException invalidRequest(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The request is not valid: " + rule + ". Nothing was changed.",
                "Correct it and send it again.");
    }
}
