package dev.semel.runtime;

import dev.semel.Waiting;
import dev.semel.json.StrictJsonCodec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class StoredRunWaitReasonReader {
    private StoredRunWaitReasonReader() {}

    /** One entry per waiting branch. A run that only waits for a worker does not wait for anything outside. */
    static List<Waiting> parse(String stored) {
        JsonNode first = StrictJsonCodec.parse(stored);
        List<Waiting> all = new ArrayList<>();
        add(first, all);
        first.path("also").forEach(other -> add(other, all));
        return List.copyOf(all);
    }

    private static void add(JsonNode wait, List<Waiting> all) {
        String step = wait.path("step").asString("");
        String detail = wait.path("detail").asString("");
        Instant until = until(wait);
        Instant due = until == null ? Instant.EPOCH : until;
        switch (wait.path("for").asString("")) {
            case "signal" -> all.add(new Waiting.ForSignal(step, detail, text(wait, "key"), until));
            case "sleep", "delay", "debounce" -> all.add(new Waiting.ForTime(step, due, false));
            case "retry", "lookup" -> all.add(new Waiting.ForTime(step, due, true));
            case "approval", "review", "decision" -> all.add(new Waiting.ForReview(step, until));
            case "run", "effect" -> all.add(new Waiting.ForRun(step, detail));
            case "queue", "rate_limit" -> all.add(new Waiting.ForLimit());
            case "code", "poison", "store" -> all.add(new Waiting.ForOperator(step, detail));
            default -> {}
        }
    }

    private static @Nullable Instant until(JsonNode wait) {
        long micros = wait.path("until").asLong(0);
        return micros == 0 ? null : Instant.EPOCH.plusNanos(Math.multiplyExact(micros, 1_000));
    }

    private static @Nullable String text(JsonNode wait, String member) {
        JsonNode value = wait.get(member);
        return value == null ? null : value.asString();
    }
}
