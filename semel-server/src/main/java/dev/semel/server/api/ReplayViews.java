package dev.semel.server.api;

import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Manner;
import dev.semel.replay.Notify;
import dev.semel.replay.Order;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders safe-replay plans and their items as JSON. */
final class ReplayViews {
    private ReplayViews() {}

    /** The plan without the progress of its items. */
    static ObjectNode head(Replay.Plan plan) {
        Order order = Order.parse(plan.wish());
        ObjectNode out = Views.object();
        out.put("replay_id", plan.text())
                .put("status", plan.state().word())
                .put("what", order.what())
                .put("from", order.from())
                .put("version", order.asItIs() ? "as_it_is" : "as_it_was")
                .put("edited_input", plan.input() != null)
                .put("made_at", Views.time(plan.madeAt()))
                .put("made_by", plan.madeBy())
                .put("valid_until", Views.time(plan.validUntil()))
                .put("needs_approval", plan.approvedBy() == null)
                .put(
                        "approved_by",
                        plan.approvedBy() == null || plan.approvedBy().isEmpty() ? null : plan.approvedBy());
        if (!order.redo().isEmpty()) {
            order.redo().forEach(out.putArray("redo")::add);
        }
        if (!order.redo().isEmpty() || order.telling() == Notify.AGAIN) {
            out.put("confirm_redo", order.confirmed());
        }
        out.put("notify", order.telling().word());
        if (order.lateSignals()) {
            out.put("late_signals", true);
        }
        JsonNode counts = Json.parse(plan.counts());
        counts.properties().forEach(member -> out.set(member.getKey(), member.getValue()));
        return out;
    }

    static ObjectNode plan(Replay.Plan plan, List<Plans.Count> counts) {
        ObjectNode out = head(plan);
        if (plan.how() == null) {
            out.putNull("apply");
        } else {
            out.set("apply", Json.parse(plan.how()));
        }
        out.put("applied_by", plan.appliedBy())
                .put("note", note(plan, counts))
                .put("ended_at", Views.time(plan.endedAt()));
        progress(out.putObject("progress"), plan, counts);
        return out;
    }

    /** The note of the plan, or the reason why no more runs start at the moment. */
    private static @Nullable String note(Replay.Plan plan, List<Plans.Count> counts) {
        Manner manner = plan.how() == null ? Manner.SAFE : Manner.parse(plan.how());
        long under = counts.stream()
                .filter(count -> count.state() != null && !count.state().ended())
                .mapToLong(Plans.Count::items)
                .sum();
        boolean waits =
                plan.state() == Replay.State.APPLYING && manner.stopAfter() > 0 && under >= Manner.MOST_UNDER_WAY;
        if (!plan.note().isEmpty() || !waits) {
            return plan.note().isEmpty() ? null : plan.note();
        }
        return under + " of its runs have not ended. With stop_after, more runs start only after some of these end.";
    }

    /** Adds the outcome of the items and the states of their runs; verified means that all these runs have ended. */
    private static void progress(ObjectNode out, Replay.Plan plan, List<Plans.Count> counts) {
        for (Replay.Fate fate : Replay.Fate.values()) {
            out.put(
                    fate.word(),
                    counts.stream()
                            .filter(count -> count.fate() == fate)
                            .mapToLong(Plans.Count::items)
                            .sum());
        }
        ObjectNode runs = out.putObject("runs");
        boolean all = plan.state() == Replay.State.DONE || plan.state() == Replay.State.STOPPED;
        for (Plans.Count count : counts) {
            RunState state = count.state();
            if (state != null) {
                runs.put(state.word(), count.items());
                all &= state.ended();
            }
        }
        out.put("verified", all);
    }

    static ObjectNode item(Replay.Item item) {
        JsonNode body = Json.parse(item.body());
        ObjectNode out = Views.object();
        out.put("run_id", body.path("run_id").asString(item.run().text()));
        out.set("workflow_id", body.path("workflow_id"));
        out.set("version", body.path("version"));
        out.set("status", body.path("status"));
        out.put("action", item.worst() == 0 ? "blocked" : Action.values()[item.worst() - 1].word());
        foretold(out, body);
        out.put("fate", item.fate().word());
        out.put("new_run_id", item.made() == null ? null : item.made().text());
        out.put("note", item.note().isEmpty() ? null : item.note());
        return out;
    }

    /** Adds whether the run is blocked, and the predicted action of each step. */
    static void foretold(ObjectNode out, JsonNode outlook) {
        out.put("blocked", outlook.has("blocked") ? outlook.path("blocked").asString() : null);
        out.set("open", outlook.path("incomplete"));
        var steps = out.putArray("steps");
        for (JsonNode one : outlook.path("steps")) {
            ObjectNode step = steps.addObject();
            one.properties().forEach(member -> step.set(member.getKey(), member.getValue()));
            step.put("until", Views.time(one.path("until").asLong(0)));
            step.put("certain", one.path("certain").asBoolean(true));
        }
    }
}
