package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.settings.SettingRepository;
import dev.semel.server.settings.WorkspaceSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the state of an alert: whether it fires, since when, and whether Semel sent its notification. */
final class AlertStateRoutes {
    private final WorkspaceSettings settings;

    AlertStateRoutes(WorkspaceSettings settings) {
        this.settings = settings;
    }

    HttpResponse state(HttpRequest request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        if (settings.alerts().findRow(workspace, name) == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no alert with this name. Nothing was changed.",
                    "List the alerts with GET /v1/alerts.");
        }
        SettingRepository.StoredSetting<JsonNode> alarm = settings.alertStates().find(workspace, name);
        JsonNode state = alarm == null ? JsonViews.newObject() : alarm.value();
        ObjectNode out = JsonViews.newObject().put("name", name);
        out.put("firing", state.path("firing").asBoolean(false));
        out.put("since", JsonViews.formatTime(state.path("since").asLong(0)));
        out.put("notified", state.path("notified").asBoolean(true));
        out.put(
                "notify_error",
                state.path("notify_error").isString()
                        ? state.path("notify_error").stringValue()
                        : null);
        return JsonViews.ok(out);
    }
}
