package dev.semel.server.query;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.server.query.view.RunView;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One entry per waiting branch, from what the run stored when it suspended. */
public final class RunWaitReasonJsonRenderer {
    private RunWaitReasonJsonRenderer() {}

    public static List<RunView.WaitView> describe(DatabaseRows.RunRow run, PiiMask mask) {
        String waits = run.progress() == null ? null : run.progress().waitingFor();
        if (waits == null) {
            return List.of();
        }
        List<RunView.WaitView> out = new ArrayList<>();
        JsonNode first = StrictJsonCodec.parse(waits);
        out.add(one(run, first, mask));
        first.path("also").forEach(other -> out.add(one(run, other, mask)));
        return out;
    }

    private static RunView.WaitView one(DatabaseRows.RunRow run, JsonNode wait, PiiMask mask) {
        String word = wait.path("for").asString("");
        boolean child = word.equals("run");
        String step = text(wait, "step", mask);
        return new RunView.WaitView(
                switch (word) {
                    case "queue" -> "concurrency_limit";
                    case "run" -> "child";
                    default -> mask.maskText(word);
                },
                word.equals("signal") ? text(wait, "detail", mask) : step,
                text(wait, "key", mask),
                step,
                child ? text(wait, "detail", mask) : null,
                lastProblem(wait, mask),
                // A queued run waits since its creation; for a step, the timeline shows when its wait began.
                run.state() == RunState.QUEUED ? StoreTime.instant(run.createdAt()) : null,
                child ? null : StoreTime.instantOrNull(wait.path("until").asLong(0)));
    }

    /** Why the last attempt failed; null if nothing is tried again. */
    private static RunView.@Nullable WaitErrorView lastProblem(JsonNode wait, PiiMask mask) {
        JsonNode error = wait.get("error");
        return error == null
                ? null
                : new RunView.WaitErrorView(error.path("code").asString(""), text(error, "message", mask));
    }

    private static @Nullable String text(JsonNode wait, String member, PiiMask mask) {
        JsonNode value = wait.get(member);
        return value == null ? null : mask.maskText(value.asString());
    }
}
