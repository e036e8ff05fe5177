package dev.semel.server.api;

import dev.semel.runtime.ResumePlan;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ResumeRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/runs/{run_id}/resume`: continues a failed run in place, or previews that with `dry_run`. */
final class RunResumeRoutes {
    private final SemelRuntime semel;
    private final JsonViews views;
    private final IdempotentActions actions;

    RunResumeRoutes(SemelRuntime semel, JsonViews views, IdempotentActions actions) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(ApiRoutes.mutationRoute("POST", "/v1/runs/{run_id}/resume", TokenScope.OPERATE, this::resume));
    }

    private HttpResponse resume(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("reason", "skip", "version", "include"));
        ResumeRequest resumeRequest = resumeRequest(request, json);
        StoredRows.RunRow row = views.findRun(request.principal(), request.parameter("run_id"));
        RunHandle<JsonNode> run = semel.run(row.ws(), row.runIdText());
        ResumePlan resumption = run.previewResume(resumeRequest);
        if ("true".equals(request.query("dry_run"))) {
            ObjectNode out = head(row, false).put("dry_run", true);
            ReplayViews.addPrediction(out, resumption.preview().toJson());
            return JsonViews.ok(out);
        }
        if (resumeRequest.reason().isBlank()) {
            throw RunActionRoutes.invalidRequest("reason is missing: the run history shows why the run was resumed");
        }
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("run.resume", run.id(), StrictJson.write(json.body()));
        return resumeOnce(request, actionRequest, run, resumption);
    }

    /** Resumes once per key. The server looks for a stored response first, even if it would reject the request now. */
    private HttpResponse resumeOnce(HttpRequest request, IdempotentActions.ActionRequest actionRequest, RunHandle<JsonNode> run, ResumePlan resumption) {
        SemelException rejection = null;
        StoreCommand.ResumeFailedRun edit = null;
        try {
            edit = resumption.edit();
        } catch (SemelException e) {
            rejection = e;
        }
        IdempotentActions.ActionResult done = edit == null
                ? actions.runOnce(request, actionRequest, new StoreCommand.WakeRuns(List.of()), _ -> null)
                : actions.runOnce(
                        request,
                        actionRequest,
                        edit,
                        outcome -> outcome == StoreCommand.ResumeResult.DONE ? JsonViews.newObject().put("resumed", true) : null);
        if (done == null && rejection != null) {
            throw rejection;
        }
        if (done == null) {
            run.checkResumed(resumption, null);
        }
        HttpResponse answer = JsonViews.ok(head(views.findRun(request.principal(), request.parameter("run_id")), true));
        return done != null && done.replayed() ? IdempotentActions.addReplayedHeaders(answer) : answer;
    }

    private static ObjectNode head(StoredRows.RunRow row, boolean resumed) {
        return JsonViews.newObject()
                .put("run_id", row.runIdText())
                .put("status", row.state().wireName())
                .put("resumed", resumed);
    }

    private static ResumeRequest resumeRequest(HttpRequest request, JsonBody json) {
        String version = json.text("version");
        if (!Set.of("", "as_it_was", "as_it_is").contains(version)) {
            throw RunActionRoutes.invalidRequest("version must be as_it_was or as_it_is");
        }
        List<ReplayAction> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(ReplayRoutes.parseAction(word.asString(""))));
        }
        return ResumeRequest.because(request.principal().tokenId(), json.text("reason"))
                .skipping(skip(json.value("skip")))
                .useCurrentVersion(version.equals("as_it_is"))
                .including(include);
    }

    private static ResumeRequest.@Nullable Skip skip(@Nullable JsonNode given) {
        if (given == null || given.isNull()) {
            return null;
        }
        JsonNode step = given.path("step");
        boolean fits =
                given.isObject() && step.isString() && Set.of("step", "result").containsAll(given.propertyNames());
        if (!fits) {
            throw RunActionRoutes.invalidRequest("skip must have step (the path of the failed step) and may have result");
        }
        JsonNode result = given.get("result");
        return new ResumeRequest.Skip(step.stringValue(), result == null ? JsonNodeFactory.instance.nullNode() : result);
    }
}
