package dev.semel.server.operations.setting;

import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the state of an alert: whether it fires, since when, and whether Semel sent its notification. */
record AlertStateRoutes(WorkspaceSettingRepositories settings) {
    ServerHttpResponse state(ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        if (settings.alerts().findRow(workspace, name) == null) {
            throw ApiErrors.notFound(
                    "This workspace has no alert with this name. Nothing was changed.",
                    "List the alerts with GET /v1/alerts.");
        }
        WorkspaceSettingRepository.StoredSetting<JsonNode> alarm =
                settings.alertStates().find(workspace, name);
        JsonNode state = alarm == null ? RunJsonRenderer.newObject() : alarm.value();
        ObjectNode out = RunJsonRenderer.newObject().put("name", name);
        out.put("firing", state.path("firing").asBoolean(false));
        out.put("since", RunJsonRenderer.formatTime(state.path("since").asLong(0)));
        out.put("notified", state.path("notified").asBoolean(true));
        out.put(
                "notify_error",
                state.path("notify_error").isString()
                        ? state.path("notify_error").stringValue()
                        : null);
        return RunJsonRenderer.ok(out);
    }
}
