package dev.semel.replay;

import dev.semel.json.StrictJson;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The request for a replay plan, as it is stored with the plan.
 *
 * @param selection the selected runs in the caller's words: a filter or their ids
 * @param from see {@link ReplayOptions}
 * @param useCurrentVersion uses the published version of each workflow instead of the one that the run had
 * @param redo see {@link ReplayOptions}
 * @param confirmed see {@link ReplayOptions}
 * @param lateSignals gives unconsumed signals of a run to its replay
 * @param notifications see {@link ReplayOptions}
 */
public record ReplayPlanRequest(
        String selection,
        String from,
        boolean useCurrentVersion,
        List<String> redo,
        boolean confirmed,
        boolean lateSignals,
        NotificationMode notifications) {
    private static final String CURRENT_VERSION = "current_version";

    public ReplayPlanRequest {
        redo = List.copyOf(redo);
    }

    /** A request that repeats no finished step. */
    public ReplayPlanRequest(String what, String from, boolean useCurrentVersion) {
        this(what, from, useCurrentVersion, List.of(), false, false);
    }

    /** A request that sends missing notifications. */
    public ReplayPlanRequest(
            String what,
            String from,
            boolean useCurrentVersion,
            List<String> redo,
            boolean confirmed,
            boolean lateSignals) {
        this(what, from, useCurrentVersion, redo, confirmed, lateSignals, NotificationMode.MISSING);
    }

    public ReplayPlanRequest notifying(NotificationMode value) {
        return new ReplayPlanRequest(selection, from, useCurrentVersion, redo, confirmed, lateSignals, value);
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
        if (!redo.isEmpty() || notifications == NotificationMode.AGAIN) {
            out.put("confirm_redo", confirmed);
        }
        if (lateSignals) {
            out.put("late_signals", true);
        }
        if (notifications != NotificationMode.MISSING) {
            out.put("notify", notifications.word());
        }
        return StrictJson.write(out);
    }

    public static ReplayPlanRequest parse(String text) {
        JsonNode json = StrictJson.parse(text);
        List<String> redo = new ArrayList<>();
        json.path("redo").forEach(step -> redo.add(step.asString()));
        return new ReplayPlanRequest(
                json.required("selection").asString(),
                json.required("from").asString(),
                json.required("definition").asString().equals(CURRENT_VERSION),
                redo,
                json.path("confirm_redo").asBoolean(false),
                json.path("late_signals").asBoolean(false),
                NotificationMode.of(json.path("notify").asString(NotificationMode.MISSING.word())));
    }
}
