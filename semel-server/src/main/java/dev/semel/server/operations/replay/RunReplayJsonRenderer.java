package dev.semel.server.operations.replay;

import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunState;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

final class RunReplayJsonRenderer {
    private RunReplayJsonRenderer() {}

    /** The plan without the progress of its items. */
    static ObjectNode planHead(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        ReplayPlanRequest order = ReplayPlanRequest.parse(plan.request());
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("replay_id", plan.idText())
                .put("status", plan.state().word())
                .put("selection", order.selection())
                .put("from", order.from())
                .put("definition", order.useCurrentVersion() ? "current_version" : "recorded_version")
                .put("edited_input", plan.input() != null)
                .put("created_at", RunJsonRenderer.formatTime(plan.createdAt()))
                .put("created_by", plan.createdBy())
                .put("valid_until", RunJsonRenderer.formatTime(plan.validUntil()))
                .put("needs_approval", plan.approvedBy() == null)
                .put(
                        "approved_by",
                        plan.approvedBy() == null || plan.approvedBy().isEmpty() ? null : plan.approvedBy());
        if (!order.redo().isEmpty()) {
            order.redo().forEach(out.putArray("redo")::add);
        }
        if (!order.redo().isEmpty() || order.notifications() == ReplayNotificationMode.AGAIN) {
            out.put("confirm_redo", order.confirmed());
        }
        out.put("notify", order.notifications().word());
        if (order.lateSignals()) {
            out.put("late_signals", true);
        }
        JsonNode counts = StrictJsonCodec.parse(plan.summary());
        counts.properties().forEach(member -> out.set(member.getKey(), member.getValue()));
        return out;
    }

    static ObjectNode planJson(ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        ObjectNode out = planHead(plan);
        if (plan.applyOptions() == null) {
            out.putNull("apply");
        } else {
            out.set("apply", StrictJsonCodec.parse(plan.applyOptions()));
        }
        out.put("applied_by", plan.appliedBy())
                .put("note", note(plan, counts))
                .put("ended_at", RunJsonRenderer.formatTime(plan.endedAt()));
        progress(out.putObject("progress"), plan, counts);
        return out;
    }

    /** The note of the plan, or the reason why no more runs start at the moment. */
    private static @Nullable String note(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        ReplayPlanApplyOptions applyOptions = plan.applyOptions() == null
                ? ReplayPlanApplyOptions.SAFE
                : ReplayPlanApplyOptions.parse(plan.applyOptions());
        long under = counts.stream()
                .filter(count -> count.state() != null && !count.state().hasEnded())
                .mapToLong(ReplayPlanQueries.ItemCount::items)
                .sum();
        boolean waits = plan.state() == ReplayPlanStoreWriteCommand.PlanState.APPLYING
                && applyOptions.stopAfter() > 0
                && under >= ReplayPlanApplyOptions.MAX_UNFINISHED;
        if (!plan.note().isEmpty() || !waits) {
            return plan.note().isEmpty() ? null : plan.note();
        }
        return under
                + " of its runs have not ended. Because `stop_after` is set, more runs start only after some of these"
                + " end.";
    }

    /** Adds the outcome of the items and the states of their runs; verified means that all these runs have ended. */
    private static void progress(
            ObjectNode out, ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanQueries.ItemCount> counts) {
        for (ReplayPlanStoreWriteCommand.ItemOutcome outcome : ReplayPlanStoreWriteCommand.ItemOutcome.values()) {
            out.put(
                    outcome.word(),
                    counts.stream()
                            .filter(count -> count.outcome() == outcome)
                            .mapToLong(ReplayPlanQueries.ItemCount::items)
                            .sum());
        }
        ObjectNode runs = out.putObject("runs");
        boolean all = plan.state() == ReplayPlanStoreWriteCommand.PlanState.DONE
                || plan.state() == ReplayPlanStoreWriteCommand.PlanState.STOPPED;
        for (ReplayPlanQueries.ItemCount count : counts) {
            RunState state = count.state();
            if (state != null) {
                runs.put(state.wireName(), count.items());
                all &= state.hasEnded();
            }
        }
        out.put("verified", all);
    }

    static ObjectNode itemJson(ReplayPlanStoreWriteCommand.PlanItem item) {
        JsonNode body = StrictJsonCodec.parse(item.preview());
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("run_id", body.path("run_id").asString(item.run().text()));
        out.set("workflow_id", body.path("workflow_id"));
        out.set("version", body.path("version"));
        out.set("status", body.path("status"));
        out.put(
                "action",
                item.worstAction() == 0 ? "blocked" : SafeReplayStepAction.values()[item.worstAction() - 1].word());
        addPrediction(out, body);
        out.put("outcome", item.outcome().word());
        out.put("new_run_id", item.newRun() == null ? null : item.newRun().text());
        out.put("note", item.note().isEmpty() ? null : item.note());
        return out;
    }

    /** Adds whether the run is blocked, and the predicted action of each step. */
    static void addPrediction(ObjectNode out, JsonNode preview) {
        out.put("blocked", preview.has("blocked") ? preview.path("blocked").asString() : null);
        out.set("incomplete", preview.path("incomplete"));
        var steps = out.putArray("steps");
        for (JsonNode one : preview.path("steps")) {
            ObjectNode step = steps.addObject();
            one.properties().forEach(member -> step.set(member.getKey(), member.getValue()));
            step.put("until", RunJsonRenderer.formatTime(one.path("until").asLong(0)));
            step.put("certain", one.path("certain").asBoolean(true));
        }
    }
}
