package dev.semel.replay;

import dev.semel.json.StrictJsonCodec;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * See {@link ReplayOptions} for the other components.
 *
 * @param selection the selected runs in the caller's words: a filter or their ids
 * @param useCurrentVersion uses the published version of each workflow instead of the one that the run had
 * @param lateSignals gives unconsumed signals of a run to its replay
 */
public record ReplayPlanRequest(
        String selection,
        String from,
        boolean useCurrentVersion,
        List<String> redo,
        boolean confirmed,
        boolean lateSignals,
        ReplayNotificationMode notifications) {
    private static final String CURRENT_VERSION = "current_version";

    public ReplayPlanRequest {
        redo = List.copyOf(redo);
    }

    public String toJson() {
        ObjectNode out = JsonNodeFactory.instance
                .objectNode()
                .put("selection", selection)
                .put("from", from)
                .put("definition", useCurrentVersion ? CURRENT_VERSION : "recorded_version");
        if (!redo.isEmpty()) {
            redo.forEach(out.putArray("redo")::add);
        }
        if (!redo.isEmpty() || notifications == ReplayNotificationMode.AGAIN) {
            out.put("confirm_redo", confirmed);
        }
        if (lateSignals) {
            out.put("late_signals", true);
        }
        if (notifications != ReplayNotificationMode.MISSING) {
            out.put("notify", notifications.word());
        }
        return StrictJsonCodec.write(out);
    }

    public static ReplayPlanRequest parse(String text) {
        JsonNode json = StrictJsonCodec.parse(text);
        List<String> redo = new ArrayList<>();
        json.path("redo").forEach(step -> redo.add(step.asString()));
        return new ReplayPlanRequest(
                json.required("selection").asString(),
                json.required("from").asString(),
                json.required("definition").asString().equals(CURRENT_VERSION),
                redo,
                json.path("confirm_redo").asBoolean(false),
                json.path("late_signals").asBoolean(false),
                ReplayNotificationMode.of(json.path("notify").asString(ReplayNotificationMode.MISSING.word())));
    }
}
