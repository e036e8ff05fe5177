package dev.semel.replay;

import dev.semel.json.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a plan was asked for, as it is kept with the plan.
 *
 * @param what the runs, in the words of whoever asked: a filter, or their ids
 * @param from as {@link Terms} has it
 * @param asItIs by the version of each workflow that is current, and not by the one that the run had
 * @param redo as {@link Terms} has it
 * @param confirmed as {@link Terms} has it
 * @param lateSignals signals that a run had got and did not take are given to its replay
 * @param telling as {@link Terms} has it
 */
public record Order(
        String what,
        String from,
        boolean asItIs,
        List<String> redo,
        boolean confirmed,
        boolean lateSignals,
        Notify telling) {
    public Order {
        redo = List.copyOf(redo);
    }

    /** One that does nothing again which is done. */
    public Order(String what, String from, boolean asItIs) {
        this(what, from, asItIs, List.of(), false, false);
    }

    /** One that sends the notifications that are missing. */
    public Order(String what, String from, boolean asItIs, List<String> redo, boolean confirmed, boolean lateSignals) {
        this(what, from, asItIs, redo, confirmed, lateSignals, Notify.MISSING);
    }

    public Order notifying(Notify value) {
        return new Order(what, from, asItIs, redo, confirmed, lateSignals, value);
    }

    public String toJson() {
        ObjectNode out = JsonNodeFactory.instance
                .objectNode()
                .put("what", what)
                .put("from", from)
                .put("as_it_is", asItIs);
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
                json.required("what").asString(),
                json.required("from").asString(),
                json.required("as_it_is").asBoolean(),
                redo,
                json.path("confirm_redo").asBoolean(false),
                json.path("late_signals").asBoolean(false),
                Notify.of(json.path("notify").asString(Notify.MISSING.word())));
    }
}
