package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.Standing;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.server.http.Scope;
import dev.semel.store.Durability;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Serves the health checks, the Prometheus metrics and the OpenAPI document. */
final class Health {
    private final Semel semel;
    private final Metrics metrics;

    Health(Semel semel, Metrics metrics) {
        this.semel = semel;
        this.metrics = metrics;
    }

    Answer alive(Request request) {
        return Views.ok(Views.object().put("status", "ok"));
    }

    Answer ready(Request request) {
        Standing standing = semel.standing();
        String trouble = standing.trouble();
        Durability durability = standing.durability();
        var body = Views.object().put("status", trouble == null ? "ready" : "not_ready");
        body.put("durability", durability == null ? "unknown" : durability.safe() ? "safe" : "unsafe");
        if (trouble != null) {
            body.put("detail", trouble);
        }
        return Answer.json(trouble == null ? 200 : 503, dev.semel.json.Json.bytes(body));
    }

    /** Metrics of the process and of the caller's workspace; an administrator gets those of all workspaces. */
    Answer metrics(Request request) {
        Principal caller = request.caller();
        String only = caller == null || caller.may(Scope.ADMIN) ? null : caller.workspaceName();
        return Answer.of(
                200,
                "text/plain; version=0.0.4; charset=utf-8",
                metrics.scrape(only).getBytes(StandardCharsets.UTF_8));
    }

    Answer openApi(Request request) {
        return Answer.json(200, resource("/dev/semel/server/openapi.json"));
    }

    private static byte[] resource(String path) {
        try (InputStream in = Health.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("no " + path + " in the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(path + " cannot be read", e);
        }
    }
}
