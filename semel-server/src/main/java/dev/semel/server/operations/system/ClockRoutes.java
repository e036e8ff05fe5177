package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.TrustedClock;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/clock`: shows whether the machine's clock jumped, and lets an operator confirm it. */
public record ClockRoutes(SemelRuntime semel, IdempotentInboundRequestExecutor actions) {
    public void addTo(ApiRouter router) {
        router.get("/v1/clock", TokenScope.READ, this::get).post("/v1/clock/confirm", TokenScope.SERVER, this::confirm);
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        TrustedClock.ClockJump jump = semel.workerStatus().clockJump();
        return RunJsonRenderer.ok(view(jump, jump == null ? now() : jump.storeTime()));
    }

    private ServerHttpResponse confirm(ServerHttpRequest request) {
        TrustedClock.ClockJump jump = semel.workerStatus().clockJump();
        long confirmed = jump == null ? now() : jump.machineTime();
        String reason = jump == null ? "there was no jump" : jump.text();
        StoreWriteCommand<Integer> nothing = new StoreWriteCommand.WakeRuns(List.of());
        ActionResult result = actions.runOnce(
                request,
                new ActionRequest("clock.confirm"),
                actions.withAudit(request, new AuditNote("clock.confirm", "clock", reason), nothing, _ -> true),
                _ -> {
                    // Only in the first execution of this request: a repeated one must not confirm a later jump.
                    semel.confirmClock();
                    return view(null, confirmed);
                });
        return Objects.requireNonNull(result).toResponse();
    }

    private long now() {
        return StoreReader.read(semel, reads -> reads.now());
    }

    private static ObjectNode view(TrustedClock.@Nullable ClockJump jump, long storeTime) {
        return RunJsonRenderer.newObject()
                .put("trusted", jump == null)
                .put("store_time", RunJsonRenderer.formatTime(storeTime))
                .put("machine_time", jump == null ? null : RunJsonRenderer.formatTime(jump.machineTime()))
                .put("trusted_at", jump == null ? null : RunJsonRenderer.formatTime(jump.trustedAt()));
    }
}
