package dev.semel.server.api;

import dev.semel.json.StrictJson;
import dev.semel.workflow.RunState;
import dev.semel.store.StoredRows;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Renders `waiting_for` of an unfinished run: one entry per waiting branch, from what the run stored when it
 * suspended.
 */
final class WaitingForView {
    private WaitingForView() {}

    static UnmaskedValue describe(StoredRows.RunRow run) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode();
        String waits = run.progress() == null ? null : run.progress().waitingFor();
        if (waits != null) {
            JsonNode first = StrictJson.parse(waits);
            out.add(one(run, first));
            first.path("also").forEach(other -> out.add(one(run, other)));
        }
        return UnmaskedValue.withFixedNames(out);
    }

    /** The kind of the first wait; empty if the run does not wait. */
    static String firstWaitKind(StoredRows.RunRow run) {
        String waits = run.progress() == null ? null : run.progress().waitingFor();
        return waits == null ? "" : StrictJson.parse(waits).path("for").asString("");
    }

    private static ObjectNode one(StoredRows.RunRow run, JsonNode wait) {
        String word = wait.path("for").asString("");
        boolean child = word.equals("run");
        ObjectNode out = JsonViews.newObject();
        out.put(
                "kind",
                switch (word) {
                    case "queue" -> "place";
                    case "run" -> "child";
                    default -> word;
                });
        out.put("name", word.equals("signal") ? text(wait, "detail") : text(wait, "step"));
        out.put("key", text(wait, "key"));
        out.put("step", text(wait, "step"));
        if (child) {
            out.put("run_id", text(wait, "detail"));
        }
        // A queued run waits since its creation; for a step, the timeline shows when its wait began.
        out.put("since", run.state() == RunState.QUEUED ? JsonViews.formatTime(run.createdAt()) : null);
        out.put("until", child ? null : JsonViews.formatTime(wait.path("until").asLong(0)));
        return out;
    }

    private static @Nullable String text(JsonNode wait, String member) {
        JsonNode value = wait.get(member);
        return value == null ? null : value.asString();
    }
}
