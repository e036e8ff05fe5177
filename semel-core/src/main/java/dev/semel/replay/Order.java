package dev.semel.replay;

import dev.semel.json.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The request for a replay plan, as it is stored with the plan.
 *
 * @param what the selected runs in the caller's words: a filter or their ids
 * @param from see {@link Terms}
 * @param asItIs uses the published version of each workflow instead of the one that the run had
 * @param redo see {@link Terms}
 * @param confirmed see {@link Terms}
 * @param lateSignals gives unconsumed signals of a run to its replay
 * @param telling see {@link Terms}
 */
public record Order(
        String what,
        String from,
        boolean asItIs,
        List<String> redo,
        boolean confirmed,
        boolean lateSignals,
        Notify telling) {
    private static final String CURRENT_VERSION = "current_version";

    public Order {
        redo = List.copyOf(redo);
    }

    /** A request that repeats no finished step. */
    public Order(String what, String from, boolean asItIs) {
        this(what, from, asItIs, List.of(), false, false);
    }

    /** A request that sends missing notifications. */
    public Order(String what, String from, boolean asItIs, List<String> redo, boolean confirmed, boolean lateSignals) {
        this(what, from, asItIs, redo, confirmed, lateSignals, Notify.MISSING);
    }

    public Order notifying(Notify value) {
        return new Order(what, from, asItIs, redo, confirmed, lateSignals, value);
    }

    public String toJson() {
        ObjectNode out = JsonNodeFactory.instance
                .objectNode()
                .put("selection", what)
                .put("from", from)
                .put("definition", asItIs ? CURRENT_VERSION : "recorded_version");
        if (!redo.isEmpty()) {
            redo.forEach(out.putArray("redo")::add);
        }
        if (!redo.isEmpty() || telling == Notify.AGAIN) {
            out.put("confirm_redo", confirmed);
        }
        if (lateSignals) {
            out.put("late_signals", true);
        }
        if (telling != Notify.MISSING) {
            out.put("notify", telling.word());
        }
        return Json.write(out);
    }

    public static Order parse(String text) {
        JsonNode json = Json.parse(text);
        List<String> redo = new ArrayList<>();
        json.path("redo").forEach(step -> redo.add(step.asString()));
        return new Order(
                json.required("selection").asString(),
                json.required("from").asString(),
                json.required("definition").asString().equals(CURRENT_VERSION),
                redo,
                json.path("confirm_redo").asBoolean(false),
                json.path("late_signals").asBoolean(false),
                Notify.of(json.path("notify").asString(Notify.MISSING.word())));
    }
}
