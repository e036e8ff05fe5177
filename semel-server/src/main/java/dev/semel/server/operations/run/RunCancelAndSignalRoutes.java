package dev.semel.server.operations.run;

import dev.semel.admission.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.HumanReviewDecisionRecorder;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.review.HumanReviewPermissionCheck;
import dev.semel.server.operations.review.HumanReviewRoutes;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves actions on an existing run: cancel, signal and decide. */
public record RunCancelAndSignalRoutes(
        SemelRuntime semel, RunJsonRenderer views, IdempotentInboundRequestExecutor actions) {
    private static final Set<String> DECISIONS =
            Set.of("approve", "reject", "send", "suppress", "happened", "did_not_happen");

    /** A repeat has no further effect; an ended run keeps its state. */
    public ServerHttpResponse cancel(ServerHttpRequest request) {
        InboundJsonRequestBody json = InboundJsonRequestBody.parse(request, Set.of("reason"));
        RunHandle<JsonNode> run = run(request);
        boolean asked = run.cancel(request.principal().tokenId(), json.text("reason"));
        return RunJsonRenderer.ok(answer(request, "cancelled", asked));
    }

    /** The request's key is the signal's key: a repeat returns the first response. The store keeps an early signal. */
    public ServerHttpResponse signal(ServerHttpRequest request) {
        String name = request.parameter("name");
        JsonNode data = InboundJsonRequestBody.parse(request, Set.of("data")).value("data");
        IdempotencyKey given = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String key = given == null ? semel.newId().text() : given.text();
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        RunHandle<JsonNode> run = run(request);
        RunHandle.RunChange signal = run.signalChange(signalNamed(name), value, Key.of(key));
        // Signal keys are scoped to run and name, so that one event id can signal several runs.
        ActionRequest actionRequest =
                new ActionRequest("run.signal " + run.id() + " " + name, StrictJsonCodec.write(value));
        return done(request, actionRequest, signal, "delivered");
    }

    /** Executes the change once per key; the response has the current status of the run. */
    @SuppressWarnings("unchecked") // the code only checks whether the change was made
    private ServerHttpResponse done(
            ServerHttpRequest request,
            ActionRequest actionRequest,
            RunHandle.@Nullable RunChange runChange,
            String what) {
        // If there is nothing to change, the server still looks for a stored response.
        StoreWriteCommand<?> edit = runChange == null ? new StoreWriteCommand.WakeRuns(List.of()) : runChange.edit();
        String runId = run(request).id();
        AtomicBoolean full = new AtomicBoolean();
        ActionResult done = actions.runOnce(request, actionRequest, (StoreWriteCommand<Object>) edit, outcome -> {
            full.set(outcome == StoreWriteCommand.SignalResult.FULL);
            return HumanReviewDecisionRecorder.isApplied(outcome)
                    ? RunJsonRenderer.newObject().put("run_id", runId).put(what, true)
                    : null;
        });
        if (full.get()) {
            throw RunHandle.tooManySignals(runId);
        }
        if (runChange != null && done != null && !done.replayed()) {
            run(request).wakeAfter(runChange);
        }
        return RunJsonRenderer.ok(answer(request, what, done != null), done != null && done.replayed());
    }

    static Signal<JsonNode> signalNamed(String name) {
        try {
            return Signal.of(name, JsonNode.class);
        } catch (IllegalArgumentException e) {
            throw ApiErrors.invalidRequest(
                    "the signal name must have 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    /**
     * The first decision wins; later ones get an error unless they are the same request. A decision with a version
     * applies only to that version of the question.
     */
    public ServerHttpResponse decide(ServerHttpRequest request) {
        InboundJsonRequestBody json =
                InboundJsonRequestBody.parse(request, Set.of("step", "decision", "result", "note", "version"));
        String step = json.text("step");
        String by = request.principal().tokenId();
        int version = HumanReviewRoutes.versionOf(json);
        RunHandle<JsonNode> run = run(request);
        boolean may = mayDecide(request, step);
        RunHandle.RunChange change =
                !may ? null : version == 0 ? reviewDecision(run, json, by) : reviewDecision(request, json, version);
        ActionRequest actionRequest = new ActionRequest("run.decide", run.id(), StrictJsonCodec.write(json.body()));
        return done(request, actionRequest, change, "decided");
    }

    /** False if the review is not stored yet, so that only an administrator may decide it. */
    private boolean mayDecide(ServerHttpRequest request, String step) {
        HumanReviewStoreWriteCommand.ReviewRow row = asked(request, step);
        if (row != null) {
            HumanReviewPermissionCheck.requireMayDecide(request.principal(), row);
        }
        return row != null || request.principal().hasScope(TokenScope.ADMIN);
    }

    private RunHandle.@Nullable RunChange reviewDecision(
            ServerHttpRequest request, InboundJsonRequestBody json, int version) {
        String decision = decision(json);
        HumanReviewStoreWriteCommand.ReviewRow row = asked(request, json.text("step"));
        if (row == null
                || !HumanReviewDecisionRecorder.allowedDecisions(row.kind()).contains(decision)) {
            return null;
        }
        JsonNode result = decision.equals("happened") ? result(json.value("result")) : null;
        return semel.reviews()
                .decisionChange(
                        row,
                        new HumanReviewDecisionRecorder.DecisionRequest(decision, result, version),
                        new HumanReviewDecisionRecorder.DecidedBy(
                                request.principal().tokenId(), json.text("note")));
    }

    private static String decision(InboundJsonRequestBody json) {
        String decision = json.text("decision");
        if (!DECISIONS.contains(decision)) {
            throw ApiErrors.invalidRequest(
                    "decision must be one of approve, reject, send, suppress, happened (with result), did_not_happen");
        }
        return decision;
    }

    private HumanReviewStoreWriteCommand.@Nullable ReviewRow asked(ServerHttpRequest request, String step) {
        DatabaseRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        return semel.reviews().find(run.ws(), HumanReviewStoreWriteCommand.id(run.id(), step));
    }

    private static RunHandle.@Nullable RunChange reviewDecision(
            RunHandle<JsonNode> run, InboundJsonRequestBody json, String by) {
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

    private RunHandle<JsonNode> run(ServerHttpRequest request) {
        DatabaseRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        return semel.run(row.ws(), row.runIdText());
    }

    private ObjectNode answer(ServerHttpRequest request, String what, boolean done) {
        DatabaseRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        return RunJsonRenderer.newObject()
                .put("run_id", row.runIdText())
                .put("status", row.state().wireName())
                .put(what, done);
    }
}
