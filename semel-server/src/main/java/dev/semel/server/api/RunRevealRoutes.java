package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/runs/{run_id}/reveal`: returns the unmasked PII of one run. The audit log first records the user,
 * the run, the fields and the reason.
 */
final class RunRevealRoutes {
    private final JsonViews views;
    private final PiiMasks masks;
    private final IdempotentActions actions;

    RunRevealRoutes(JsonViews views, PiiMasks masks, IdempotentActions actions) {
        this.views = views;
        this.masks = masks;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(ApiRoutes.mutationRoute("POST", "/v1/runs/{run_id}/reveal", TokenScope.OPERATE, this::reveal));
    }

    private HttpResponse reveal(HttpRequest request) {
        String reason = JsonBody.parse(request, Set.of("reason")).text("reason").strip();
        if (reason.isEmpty()) {
            throw rejection("reason is missing: the audit log records it with your name");
        }
        StoredRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        List<String> names = masks.of(run).fieldNames();
        if (names.isEmpty()) {
            throw rejection("The workflow of this run marks no field as pii, so no value is masked");
        }
        String fields = String.join(", ", names);
        var entry = new IdempotentActions.AuditNote("run.reveal", run.runIdText(), "[" + fields + "] " + reason);
        StoreCommand<Integer> noted =
                actions.withAudit(request, entry, new StoreCommand.WakeRuns(List.of()), _ -> true);
        // The stored idempotency record contains the request only, never the revealed values.
        actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("run.reveal", run.runIdText(), reason),
                noted,
                _ -> JsonViews.newObject().put("run_id", run.runIdText()));
        ObjectNode all = views.runJson(run, PiiMasks.noMask());
        ObjectNode out = JsonViews.newObject().put("run_id", run.runIdText());
        names.forEach(out.putArray("revealed")::add);
        for (String member : List.of("input", "output", "error")) {
            out.set(member, all.path(member));
        }
        return JsonViews.ok(out);
    }

    private static SemelException rejection(String why) {
        return new SemelException(
                ErrorCode.INVALID_INPUT, why + ". Nothing was revealed.", "Send {\"reason\": \"…\"}, or read the run.");
    }
}
