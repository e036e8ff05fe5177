package dev.semel.server.operations.system;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.TrustedClock;
import dev.semel.store.WorkflowStore;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** Serves the health checks, the Prometheus metrics and the OpenAPI document. */
public record HealthRoutes(SemelRuntime semel, PrometheusMetrics metrics, Supplier<byte[]> description) {
    public ServerHttpResponse live(ServerHttpRequest request) {
        String dead = semel.workerStatus().deadReason();
        if (dead == null) {
            return RunJsonRenderer.ok(RunJsonRenderer.newObject().put("status", "ok"));
        }
        var body = RunJsonRenderer.newObject().put("status", "dead").put("detail", dead);
        return ServerHttpResponse.json(503, StrictJsonCodec.bytes(body));
    }

    public ServerHttpResponse ready(ServerHttpRequest request) {
        WorkerStatus workerStatus = semel.workerStatus();
        String trouble = workerStatus.unreadyReason();
        WorkflowStore.Durability durability = workerStatus.durability();
        var body = RunJsonRenderer.newObject().put("status", trouble == null ? "ready" : "not_ready");
        body.put("durability", durability == null ? "unknown" : durability.safe() ? "safe" : "unsafe");
        if (trouble != null) {
            body.put("detail", trouble);
        }
        TrustedClock.ClockJump jump = workerStatus.clockJump();
        if (jump != null) {
            body.put("warning", jump.text()); // ready all the same: triggers are safe with the store's clock
        }
        return ServerHttpResponse.json(trouble == null ? 200 : 503, StrictJsonCodec.bytes(body));
    }

    /** Metrics of the process and of the caller's workspace; with scope `server` those of all workspaces. */
    public ServerHttpResponse metrics(ServerHttpRequest request) {
        Principal caller = request.caller();
        String only = caller == null || caller.hasScope(TokenScope.SERVER) ? null : caller.workspaceName();
        return ServerHttpResponse.of(
                200,
                "text/plain; version=0.0.4; charset=utf-8",
                metrics.scrape(only).getBytes(StandardCharsets.UTF_8));
    }

    public ServerHttpResponse openApi(ServerHttpRequest request) {
        return ServerHttpResponse.json(200, description.get());
    }
}
