package dev.semel.server.operations.replay;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.runtime.FailedRunResumePlan;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/runs/{run_id}/resume`: continues a failed run in place, or previews that with `dry_run`. */
public record RunResumeRoutes(SemelRuntime semel, RunJsonRenderer views, IdempotentInboundRequestExecutor actions) {
    public void addTo(ApiRouter router) {
        router.post("/v1/runs/{run_id}/resume", TokenScope.OPERATE, this::resume);
    }

    private ServerHttpResponse resume(ServerHttpRequest request) {
        InboundJsonRequestBody json =
                InboundJsonRequestBody.parse(request, Set.of("reason", "skip", "definition", "include"));
        FailedRunResumeRequest resumeRequest = resumeRequest(request, json);
        DatabaseRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        RunHandle<JsonNode> run = semel.run(row.ws(), row.runIdText());
        FailedRunResumePlan resumption = run.previewResume(resumeRequest);
        if ("true".equals(request.query("dry_run"))) {
            ObjectNode out = head(row, false).put("dry_run", true);
            RunReplayJsonRenderer.addPrediction(out, resumption.preview().toJson());
            return RunJsonRenderer.ok(out);
        }
        if (resumeRequest.reason().isBlank()) {
            throw ApiErrors.invalidRequest("reason is missing: the run history shows why the run was resumed");
        }
        ActionRequest actionRequest = new ActionRequest("run.resume", run.id(), StrictJsonCodec.write(json.body()));
        return resumeOnce(request, actionRequest, run, resumption);
    }

    /** Resumes once per key. The server looks for a stored response first, even if it would reject the request now. */
    private ServerHttpResponse resumeOnce(
            ServerHttpRequest request,
            ActionRequest actionRequest,
            RunHandle<JsonNode> run,
            FailedRunResumePlan resumption) {
        SemelException rejection = null;
        StoreWriteCommand.ResumeFailedRun edit = null;
        try {
            edit = resumption.edit();
        } catch (SemelException e) {
            rejection = e;
        }
        ActionResult done = edit == null
                ? actions.runOnce(request, actionRequest, new StoreWriteCommand.WakeRuns(List.of()), _ -> null)
                : actions.runOnce(
                        request,
                        actionRequest,
                        edit,
                        outcome -> outcome == StoreWriteCommand.ResumeResult.DONE
                                ? RunJsonRenderer.newObject().put("resumed", true)
                                : null);
        if (done == null && rejection != null) {
            throw rejection;
        }
        if (done == null) {
            run.checkResumed(resumption, null);
        }
        DatabaseRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        return RunJsonRenderer.ok(head(row, true), done != null && done.replayed());
    }

    private static ObjectNode head(DatabaseRows.RunRow row, boolean resumed) {
        return RunJsonRenderer.newObject()
                .put("run_id", row.runIdText())
                .put("status", row.state().wireName())
                .put("resumed", resumed);
    }

    private static FailedRunResumeRequest resumeRequest(ServerHttpRequest request, InboundJsonRequestBody json) {
        String definition = json.text("definition");
        if (!Set.of("", "recorded_version", "current_version").contains(definition)) {
            throw ApiErrors.invalidRequest("definition must be recorded_version or current_version");
        }
        List<SafeReplayStepAction> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(RunReplayRoutes.parseAction(word.asString(""))));
        }
        return FailedRunResumeRequest.because(request.principal().tokenId(), json.text("reason"))
                .skipping(skip(json.value("skip")))
                .useCurrentVersion(definition.equals("current_version"))
                .including(include);
    }

    private static FailedRunResumeRequest.@Nullable Skip skip(@Nullable JsonNode given) {
        if (given == null || given.isNull()) {
            return null;
        }
        JsonNode step = given.path("step");
        boolean fits =
                given.isObject() && step.isString() && Set.of("step", "result").containsAll(given.propertyNames());
        if (!fits) {
            throw ApiErrors.invalidRequest(
                    "`skip` must have `step` (the path of the failed step) and may have `result`");
        }
        JsonNode result = given.get("result");
        return new FailedRunResumeRequest.Skip(
                step.stringValue(), result == null ? JsonNodeFactory.instance.nullNode() : result);
    }
}
