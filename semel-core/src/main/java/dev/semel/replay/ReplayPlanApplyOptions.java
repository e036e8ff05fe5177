package dev.semel.replay;

import dev.semel.json.StrictJsonCodec;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * @param include actions to apply although they are not safe
 * @param rate runs per second; 0 for no limit
 * @param canary number of runs that must complete before the rest starts; 0 for none
 * @param stopAfter stops after this many failed new runs; 0 for never
 */
public record ReplayPlanApplyOptions(List<SafeReplayStepAction> include, int rate, int canary, int stopAfter) {
    public static final ReplayPlanApplyOptions SAFE = new ReplayPlanApplyOptions(List.of(), 0, 0, 0);

    /** With {@code stopAfter}: at most this many unfinished runs, or ten per allowed failure if that is more. */
    public static final int MAX_UNFINISHED = 100;

    private static final int MOST = 1_000_000;

    public ReplayPlanApplyOptions {
        include = include.stream().distinct().sorted().toList(); // so that equal options give equal texts
        if (rate < 0 || canary < 0 || stopAfter < 0 || rate > MOST || canary > MOST || stopAfter > MOST) {
            throw new IllegalArgumentException("rate, canary and stop_after must be whole numbers from 0 to " + MOST);
        }
    }

    public boolean allows(int actions) {
        int allowed = 0;
        for (SafeReplayStepAction action : SafeReplayStepAction.values()) {
            allowed |= action.isConsented() || include.contains(action) ? action.bit() : 0;
        }
        return (actions & ~allowed) == 0;
    }

    public ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        var words = out.putArray("include");
        include.forEach(action -> words.add(action.word()));
        return out.put("rate", rate).put("canary", canary).put("stop_after", stopAfter);
    }

    public static ReplayPlanApplyOptions parse(String text) {
        JsonNode json = StrictJsonCodec.parse(text);
        List<SafeReplayStepAction> include = new ArrayList<>();
        json.required("include").forEach(word -> include.add(SafeReplayStepAction.of(word.asString())));
        return new ReplayPlanApplyOptions(
                include,
                json.required("rate").asInt(),
                json.required("canary").asInt(),
                json.required("stop_after").asInt());
    }
}
