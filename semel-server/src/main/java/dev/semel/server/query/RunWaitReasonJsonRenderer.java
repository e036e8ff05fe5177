package dev.semel.server.query;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One entry per waiting branch, from what the run stored when it suspended. */
public final class RunWaitReasonJsonRenderer {
    private RunWaitReasonJsonRenderer() {}

    public static UnmaskedPiiValue describe(DatabaseRows.RunRow run) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode();
        String waits = run.progress() == null ? null : run.progress().waitingFor();
        if (waits != null) {
            JsonNode first = StrictJsonCodec.parse(waits);
            out.add(one(run, first));
            first.path("also").forEach(other -> out.add(one(run, other)));
        }
        return UnmaskedPiiValue.withFixedNames(out);
    }

    private static ObjectNode one(DatabaseRows.RunRow run, JsonNode wait) {
        String word = wait.path("for").asString("");
        boolean child = word.equals("run");
        ObjectNode out = RunJsonRenderer.newObject();
        out.put(
                "kind",
                switch (word) {
                    case "queue" -> "concurrency_limit";
                    case "run" -> "child";
                    default -> word;
                });
        out.put("name", word.equals("signal") ? text(wait, "detail") : text(wait, "step"));
        out.put("key", text(wait, "key"));
        out.put("step", text(wait, "step"));
        if (child) {
            out.put("run_id", text(wait, "detail"));
        }
        if (wait.get("error") instanceof ObjectNode problem) {
            out.set("error", problem); // of the last attempt
        }
        // A queued run waits since its creation; for a step, the timeline shows when its wait began.
        out.put("since", run.state() == RunState.QUEUED ? RunJsonRenderer.formatTime(run.createdAt()) : null);
        out.put(
                "until",
                child ? null : RunJsonRenderer.formatTime(wait.path("until").asLong(0)));
        return out;
    }

    private static @Nullable String text(JsonNode wait, String member) {
        JsonNode value = wait.get(member);
        return value == null ? null : value.asString();
    }
}
