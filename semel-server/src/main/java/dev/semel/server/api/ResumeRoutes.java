package dev.semel.server.api;

import dev.semel.Resumption;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Resume;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/runs/{run_id}/resume`: continues a failed run in place, or previews that with `dry_run`. */
final class ResumeRoutes {
    private final Semel semel;
    private final Views views;
    private final Deeds actions;

    ResumeRoutes(Semel semel, Views views, Deeds actions) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/runs/{run_id}/resume", Scope.OPERATE, this::resume));
    }

    private Answer resume(Request request) {
        Said json = Said.in(request, Set.of("reason", "skip", "version", "include"));
        Resume resumeRequest = resumeRequest(request, json);
        Rows.Run row = views.find(request.principal(), request.parameter("run_id"));
        Run<JsonNode> run = semel.run(row.ws(), row.runIdText());
        Resumption resumption = run.resumption(resumeRequest);
        if ("true".equals(request.query("dry_run"))) {
            ObjectNode out = head(row, false).put("dry_run", true);
            ReplayViews.foretold(out, resumption.outlook().toJson());
            return Views.ok(out);
        }
        if (resumeRequest.reason().isBlank()) {
            throw RunActs.refused("reason is missing: the run history shows why the run was resumed");
        }
        Deeds.Deed actionRequest = new Deeds.Deed("run.resume", run.id(), Json.write(json.body()));
        return resumeOnce(request, actionRequest, run, resumption);
    }

    /** Resumes once per key. The server looks for a stored response first, even if it would reject the request now. */
    private Answer resumeOnce(Request request, Deeds.Deed actionRequest, Run<JsonNode> run, Resumption resumption) {
        SemelException rejection = null;
        Edit.Resume edit = null;
        try {
            edit = resumption.edit();
        } catch (SemelException e) {
            rejection = e;
        }
        Deeds.Done done = edit == null
                ? actions.once(request, actionRequest, new Edit.Wake(List.of()), _ -> null)
                : actions.once(
                        request,
                        actionRequest,
                        edit,
                        outcome -> outcome == Edit.Resumed.DONE ? Views.object().put("resumed", true) : null);
        if (done == null && rejection != null) {
            throw rejection;
        }
        if (done == null) {
            run.check(resumption, null);
        }
        Answer answer = Views.ok(head(views.find(request.principal(), request.parameter("run_id")), true));
        return done != null && done.replayed() ? Deeds.replayed(answer) : answer;
    }

    private static ObjectNode head(Rows.Run row, boolean resumed) {
        return Views.object()
                .put("run_id", row.runIdText())
                .put("status", row.state().word())
                .put("resumed", resumed);
    }

    private static Resume resumeRequest(Request request, Said json) {
        String version = json.text("version");
        if (!Set.of("", "as_it_was", "as_it_is").contains(version)) {
            throw RunActs.refused("version must be as_it_was or as_it_is");
        }
        List<Action> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(ReplayRoutes.action(word.asString(""))));
        }
        return Resume.because(request.principal().tokenId(), json.text("reason"))
                .skipping(skip(json.value("skip")))
                .asItIs(version.equals("as_it_is"))
                .including(include);
    }

    private static Resume.@Nullable Skip skip(@Nullable JsonNode given) {
        if (given == null || given.isNull()) {
            return null;
        }
        JsonNode step = given.path("step");
        boolean fits =
                given.isObject() && step.isString() && Set.of("step", "result").containsAll(given.propertyNames());
        if (!fits) {
            throw RunActs.refused("skip must have step (the path of the failed step) and may have result");
        }
        JsonNode result = given.get("result");
        return new Resume.Skip(step.stringValue(), result == null ? JsonNodeFactory.instance.nullNode() : result);
    }
}
