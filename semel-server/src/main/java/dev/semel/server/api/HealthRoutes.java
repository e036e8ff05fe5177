package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.store.Durability;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Serves the health checks, the Prometheus metrics and the OpenAPI document. */
final class HealthRoutes {
    private final SemelRuntime semel;
    private final PrometheusMetrics metrics;

    HealthRoutes(SemelRuntime semel, PrometheusMetrics metrics) {
        this.semel = semel;
        this.metrics = metrics;
    }

    HttpResponse live(HttpRequest request) {
        return JsonViews.ok(JsonViews.newObject().put("status", "ok"));
    }

    HttpResponse ready(HttpRequest request) {
        WorkerStatus standing = semel.workerStatus();
        String trouble = standing.unreadyReason();
        Durability durability = standing.durability();
        var body = JsonViews.newObject().put("status", trouble == null ? "ready" : "not_ready");
        body.put("durability", durability == null ? "unknown" : durability.safe() ? "safe" : "unsafe");
        if (trouble != null) {
            body.put("detail", trouble);
        }
        return HttpResponse.json(trouble == null ? 200 : 503, dev.semel.json.StrictJson.bytes(body));
    }

    /** Metrics of the process and of the caller's workspace; an administrator gets those of all workspaces. */
    HttpResponse metrics(HttpRequest request) {
        Principal caller = request.caller();
        String only = caller == null || caller.hasScope(TokenScope.ADMIN) ? null : caller.workspaceName();
        return HttpResponse.of(
                200,
                "text/plain; version=0.0.4; charset=utf-8",
                metrics.scrape(only).getBytes(StandardCharsets.UTF_8));
    }

    HttpResponse openApi(HttpRequest request) {
        return HttpResponse.json(200, resource("/dev/semel/server/openapi.json"));
    }

    private static byte[] resource(String path) {
        try (InputStream in = HealthRoutes.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("no " + path + " in the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(path + " cannot be read", e);
        }
    }
}
