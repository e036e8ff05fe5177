package dev.semel.server.operations.run;

import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/runs/{run_id}/reveal`. The audit log first records the user, the run, the fields and the reason. */
public record RunPiiRevealRoutes(
        RunJsonRenderer views, RunPiiMaskFactory masks, IdempotentInboundRequestExecutor actions) {
    public void addTo(ApiRouter router) {
        router.post("/v1/runs/{run_id}/reveal", TokenScope.OPERATE, this::reveal);
    }

    private ServerHttpResponse reveal(ServerHttpRequest request) {
        String reason = InboundJsonRequestBody.parse(request, Set.of("reason"))
                .text("reason")
                .strip();
        if (reason.isEmpty()) {
            throw rejection("reason is missing: the audit log records it with your name", "Send {\"reason\": \"…\"}.");
        }
        DatabaseRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        List<String> names = masks.of(run).fieldNames();
        if (names.isEmpty()) {
            throw rejection(
                    "The workflow of this run marks no field as pii, so no value is masked",
                    "Read the run: GET /v1/runs/" + run.runIdText() + ".");
        }
        String fields = String.join(", ", names);
        var entry = new AuditNote("run.reveal", run.runIdText(), "[" + fields + "] " + reason);
        StoreWriteCommand<Integer> noted =
                actions.withAudit(request, entry, new StoreWriteCommand.WakeRuns(List.of()), _ -> true);
        // The stored idempotency record contains the request only, never the revealed values.
        actions.runOnce(
                request,
                new ActionRequest("run.reveal", run.runIdText(), reason),
                noted,
                _ -> RunJsonRenderer.newObject().put("run_id", run.runIdText()));
        ObjectNode all = ViewJson.of(views.view(run, RunPiiMaskFactory.noMask(), null));
        ObjectNode out = RunJsonRenderer.newObject().put("run_id", run.runIdText());
        names.forEach(out.putArray("revealed")::add);
        for (String member : List.of("input", "output", "error")) {
            out.set(member, all.path(member));
        }
        return RunJsonRenderer.ok(out);
    }

    private static SemelException rejection(String why, String fix) {
        return ApiErrors.invalidInput(why + ". Nothing was revealed.", fix);
    }
}
