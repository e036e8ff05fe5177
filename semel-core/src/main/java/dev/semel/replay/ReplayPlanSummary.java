package dev.semel.replay;

import dev.semel.run.JournalStepPathFormat;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

public final class ReplayPlanSummary {
    /** At most this many different steps are counted individually. */
    private static final int MOST_STEPS = 500;

    private final Map<SafeReplayStepAction, Long> runs = new EnumMap<>(SafeReplayStepAction.class);
    private final Map<SafeReplayStepAction, Long> steps = new EnumMap<>(SafeReplayStepAction.class);
    private final Map<String, Map<SafeReplayStepAction, Long>> byStep = new TreeMap<>();
    private long all;
    private long safe;
    private long blocked;
    private long open;
    private long perhaps;

    public void add(ReplayPreview preview) {
        all++;
        SafeReplayStepAction worst = preview.worst();
        if (worst == null) {
            blocked++;
            return;
        }
        safe += worst.isSafe() ? 1 : 0;
        open += preview.incomplete() ? 1 : 0;
        runs.merge(worst, 1L, Long::sum);
        for (PlannedReplayStep step : preview.steps()) {
            if (!step.certain()) {
                perhaps++;
                continue;
            }
            steps.merge(step.action(), 1L, Long::sum);
            String name = JournalStepPathFormat.withoutItems(step.step()); // all iterations of a loop step are one
            if (byStep.size() < MOST_STEPS || byStep.containsKey(name)) {
                byStep.computeIfAbsent(name, _ -> new EnumMap<>(SafeReplayStepAction.class))
                        .merge(step.action(), 1L, Long::sum);
            }
        }
    }

    public long runs() {
        return all;
    }

    public ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("runs", all).put("safe", safe).put("blocked", blocked).put("incomplete", open);
        ObjectNode actions = out.putObject("actions");
        for (SafeReplayStepAction action : SafeReplayStepAction.values()) {
            actions.putObject(action.word())
                    .put("runs", runs.getOrDefault(action, 0L))
                    .put("steps", steps.getOrDefault(action, 0L));
        }
        out.put("conditional_steps", perhaps);
        var named = out.putArray("by_step");
        byStep.forEach((step, counts) -> counts.forEach((action, count) ->
                named.addObject().put("step", step).put("action", action.word()).put("steps", count)));
        return out;
    }
}
