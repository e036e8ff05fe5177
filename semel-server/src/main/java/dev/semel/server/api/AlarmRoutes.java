package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the state of an alert: whether it fires, since when, and whether Semel sent its notification. */
final class AlarmRoutes {
    private final Settings settings;

    AlarmRoutes(Settings settings) {
        this.settings = settings;
    }

    Answer state(Request request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        if (settings.alerts().row(workspace, name) == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no alert with this name. Nothing was changed.",
                    "List the alerts with GET /v1/alerts.");
        }
        Shelf.Kept<JsonNode> alarm = settings.alarms().find(workspace, name);
        JsonNode state = alarm == null ? Views.object() : alarm.value();
        ObjectNode out = Views.object().put("name", name);
        out.put("firing", state.path("firing").asBoolean(false));
        out.put("since", Views.time(state.path("since").asLong(0)));
        out.put("told", state.path("notified").asBoolean(true));
        out.put(
                "trouble",
                state.path("notify_error").isString() ? state.path("notify_error").stringValue() : null);
        return Views.ok(out);
    }
}
