package dev.semel.server.api;

import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.NotificationMode;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders safe-replay plans and their items as JSON. */
final class ReplayViews {
    private ReplayViews() {}

    /** The plan without the progress of its items. */
    static ObjectNode planHead(ReplayPlanOperation.ReplayPlan plan) {
        ReplayPlanRequest order = ReplayPlanRequest.parse(plan.request());
        ObjectNode out = JsonViews.newObject();
        out.put("replay_id", plan.idText())
                .put("status", plan.state().word())
                .put("what", order.selection())
                .put("from", order.from())
                .put("version", order.useCurrentVersion() ? "as_it_is" : "as_it_was")
                .put("edited_input", plan.input() != null)
                .put("made_at", JsonViews.formatTime(plan.createdAt()))
                .put("made_by", plan.createdBy())
                .put("valid_until", JsonViews.formatTime(plan.validUntil()))
                .put("needs_approval", plan.approvedBy() == null)
                .put(
                        "approved_by",
                        plan.approvedBy() == null || plan.approvedBy().isEmpty() ? null : plan.approvedBy());
        if (!order.redo().isEmpty()) {
            order.redo().forEach(out.putArray("redo")::add);
        }
        if (!order.redo().isEmpty() || order.notifications() == NotificationMode.AGAIN) {
            out.put("confirm_redo", order.confirmed());
        }
        out.put("notify", order.notifications().word());
        if (order.lateSignals()) {
            out.put("late_signals", true);
        }
        JsonNode counts = StrictJson.parse(plan.summary());
        counts.properties().forEach(member -> out.set(member.getKey(), member.getValue()));
        return out;
    }

    static ObjectNode planJson(ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        ObjectNode out = planHead(plan);
        if (plan.applyOptions() == null) {
            out.putNull("apply");
        } else {
            out.set("apply", StrictJson.parse(plan.applyOptions()));
        }
        out.put("applied_by", plan.appliedBy())
                .put("note", note(plan, counts))
                .put("ended_at", JsonViews.formatTime(plan.endedAt()));
        progress(out.putObject("progress"), plan, counts);
        return out;
    }

    /** The note of the plan, or the reason why no more runs start at the moment. */
    private static @Nullable String note(ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        ApplyOptions manner = plan.applyOptions() == null ? ApplyOptions.SAFE : ApplyOptions.parse(plan.applyOptions());
        long under = counts.stream()
                .filter(count -> count.state() != null && !count.state().hasEnded())
                .mapToLong(ReplayPlanQueries.ItemCount::items)
                .sum();
        boolean waits =
                plan.state() == ReplayPlanOperation.PlanState.APPLYING && manner.stopAfter() > 0 && under >= ApplyOptions.MAX_UNFINISHED;
        if (!plan.note().isEmpty() || !waits) {
            return plan.note().isEmpty() ? null : plan.note();
        }
        return under + " of its runs have not ended. With stop_after, more runs start only after some of these end.";
    }

    /** Adds the outcome of the items and the states of their runs; verified means that all these runs have ended. */
    private static void progress(ObjectNode out, ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        for (ReplayPlanOperation.ItemOutcome fate : ReplayPlanOperation.ItemOutcome.values()) {
            out.put(
                    fate.word(),
                    counts.stream()
                            .filter(count -> count.outcome() == fate)
                            .mapToLong(ReplayPlanQueries.ItemCount::items)
                            .sum());
        }
        ObjectNode runs = out.putObject("runs");
        boolean all = plan.state() == ReplayPlanOperation.PlanState.DONE || plan.state() == ReplayPlanOperation.PlanState.STOPPED;
        for (ReplayPlanQueries.ItemCount count : counts) {
            RunState state = count.state();
            if (state != null) {
                runs.put(state.wireName(), count.items());
                all &= state.hasEnded();
            }
        }
        out.put("verified", all);
    }

    static ObjectNode itemJson(ReplayPlanOperation.PlanItem item) {
        JsonNode body = StrictJson.parse(item.preview());
        ObjectNode out = JsonViews.newObject();
        out.put("run_id", body.path("run_id").asString(item.run().text()));
        out.set("workflow_id", body.path("workflow_id"));
        out.set("version", body.path("version"));
        out.set("status", body.path("status"));
        out.put("action", item.worstAction() == 0 ? "blocked" : ReplayAction.values()[item.worstAction() - 1].word());
        addPrediction(out, body);
        out.put("fate", item.outcome().word());
        out.put("new_run_id", item.newRun() == null ? null : item.newRun().text());
        out.put("note", item.note().isEmpty() ? null : item.note());
        return out;
    }

    /** Adds whether the run is blocked, and the predicted action of each step. */
    static void addPrediction(ObjectNode out, JsonNode outlook) {
        out.put("blocked", outlook.has("blocked") ? outlook.path("blocked").asString() : null);
        out.set("open", outlook.path("incomplete"));
        var steps = out.putArray("steps");
        for (JsonNode one : outlook.path("steps")) {
            ObjectNode step = steps.addObject();
            one.properties().forEach(member -> step.set(member.getKey(), member.getValue()));
            step.put("until", JsonViews.formatTime(one.path("until").asLong(0)));
            step.put("certain", one.path("certain").asBoolean(true));
        }
    }
}
