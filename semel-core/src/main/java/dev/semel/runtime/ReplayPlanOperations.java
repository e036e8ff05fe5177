package dev.semel.runtime;

import dev.semel.engine.replay.ReplayPlanExecutor;
import dev.semel.engine.replay.RunReplayPreviewer;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPlanSummary;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Only applying a plan changes something: it starts the replays, which reuse recorded effects. */
public final class ReplayPlanOperations {
    public static final int MAX_RUNS = 50_000;

    private static final int AT_ONCE = 100;
    private static final int MAX_DIFFERENCES = 20;

    private final SemelRuntime semel;
    private final RunReplayPreviewer planner;
    private final ReplayPlanExecutor replayer;

    ReplayPlanOperations(SemelRuntime semel, ReplayPlanExecutor replayer) {
        this.semel = semel;
        this.planner = replayer.previewer();
        this.replayer = replayer;
    }

    /** The runs that a plan covers: listed by id, or selected by a filter. */
    public sealed interface RunSelection {
        record ByRunId(List<String> runIds) implements RunSelection {}

        /** @param filter its cursor and limit are ignored */
        record ByFilter(StoreQueries.RunFilter filter) implements RunSelection {}
    }

    /**
     * @param input input that replaces the input of the runs; null to keep it
     * @param needsApproval whether another user must approve the plan before it is applied
     * @param manner how to apply the plan; an approved plan can only be applied this way
     */
    public record ReplayRequest(
            int workspace,
            String actor,
            RunSelection selection,
            ReplayPlanRequest order,
            @Nullable String input,
            boolean needsApproval,
            ReplayPlanApplyOptions manner) {}

    /** Creates and builds a plan; changes nothing else. */
    public ReplayPlanStoreWriteCommand.ReplayPlan plan(ReplayRequest replayRequest) {
        return buildPlan(semel.change(createPlanEdit(replayRequest)).id(), replayRequest);
    }

    /** The change that creates an empty plan, for callers that commit it together with other changes. */
    public StoreWriteCommand<ReplayPlanStoreWriteCommand.ReplayPlan> createPlanEdit(ReplayRequest replayRequest) {
        String requested = replayRequest.order().toJson();
        boolean said = replayRequest.needsApproval() || !replayRequest.manner().equals(ReplayPlanApplyOptions.SAFE);
        return new StoreWriteCommand.ReplayPlanCommand<>(new ReplayPlanStoreWriteCommand.CreatePlan(
                semel.newId(),
                replayRequest.workspace(),
                replayRequest.actor(),
                requested,
                replayRequest.input(),
                replayRequest.needsApproval(),
                said ? replayRequest.manner().toJson().toString() : null));
    }

    /** Builds the items of a created plan; returns a plan that is already built unchanged. */
    public ReplayPlanStoreWriteCommand.ReplayPlan buildPlan(RunId id, ReplayRequest replayRequest) {
        ReplayPlanStoreWriteCommand.ReplayPlan laid = existing(findPlan(replayRequest.workspace(), id));
        if (laid.state() != ReplayPlanStoreWriteCommand.PlanState.PLANNING) {
            return laid;
        }
        ReplayPlanSummary summary = new ReplayPlanSummary();
        RunReplayPreviewer.PreviewRequest wanted = new RunReplayPreviewer.PreviewRequest(
                replayRequest.workspace(), replayRequest.order(), replayRequest.input() != null);
        Counting counting = new Counting(summary, new HashSet<>(), new HashSet<>());
        switch (replayRequest.selection()) {
            case RunSelection.ByRunId(List<String> runIds) -> {
                List<RunId> ids = runIds.stream()
                        .map(one -> semel.javaWorkflows()
                                .find(replayRequest.workspace(), one)
                                .id())
                        .distinct()
                        .toList();
                for (int i = 0; i < ids.size(); i += AT_ONCE) {
                    note(laid, ids.subList(i, Math.min(ids.size(), i + AT_ONCE)), wanted, counting);
                }
            }
            case RunSelection.ByFilter(StoreQueries.RunFilter filter) -> all(laid, filter, wanted, counting);
        }
        long existing = progress(id).stream()
                .mapToLong(ReplayPlanQueries.ItemCount::items)
                .sum();
        if (existing != counting.noted().size()) {
            drop(laid, counting.noted());
        }
        // CRASH(plan-noted): The items are stored and the plan is not ready. A repeated request builds it again.
        semel.crashPoint("plan-noted");
        return Objects.requireNonNull(maybeChange(new ReplayPlanStoreWriteCommand.MarkReady(
                laid.id(), summary.toJson().toString())));
    }

    /** Totals so far, the lineages already included (each is replayed once), and the runs with an item. */
    private record Counting(ReplayPlanSummary summary, Set<RunId> seen, Set<RunId> noted) {}

    /**
     * Removes items that an earlier or concurrent build of the same plan left: they are not in the totals but would be
     * applied. Runs after all items are stored, because a concurrent build may be counting the same ones.
     */
    private void drop(ReplayPlanStoreWriteCommand.ReplayPlan plan, Set<RunId> noted) {
        RunId after = null;
        List<ReplayPlanStoreWriteCommand.PlanItem> page;
        do {
            page = listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), after, AT_ONCE);
            List<RunId> left = page.stream()
                    .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                    .filter(run -> !noted.contains(run))
                    .toList();
            if (!left.isEmpty()) {
                change(new ReplayPlanStoreWriteCommand.RemoveItems(plan.id(), left));
            }
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == AT_ONCE);
    }

    private void all(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            StoreQueries.RunFilter filter,
            RunReplayPreviewer.PreviewRequest wanted,
            Counting counting) {
        RunId before = filter.before();
        boolean more = true;
        while (more) {
            StoreQueries.RunFilter page = filter.page(before, AT_ONCE);
            List<RunId> ids = Objects.requireNonNull(semel.view(
                    reads -> reads.runs(page).stream().map(run -> run.id()).toList()));
            note(plan, ids, wanted, counting);
            more = ids.size() == AT_ONCE;
            before = ids.isEmpty() ? null : ids.getLast();
        }
    }

    private void note(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            List<RunId> ids,
            RunReplayPreviewer.PreviewRequest wanted,
            Counting counting) {
        List<ReplayPlanStoreWriteCommand.PlanItem> items = new ArrayList<>();
        for (RunReplayPreviewer.RunPreview one : planner.preview(ids, wanted)) {
            boolean other = !one.base().id().equals(one.requested().id());
            if (counting.seen().add(one.base().id())) {
                counting.summary().add(one.preview());
                items.add(one.toPlanItem());
            } else if (!other) {
                items.add(one.toPlanItem()); // an older run of its lineage was already included
            }
        }
        if (counting.summary().runs() > MAX_RUNS) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The request covers more than " + MAX_RUNS + " runs. No plan was created and nothing was replayed.",
                    "Narrow the filter, for example with `workflow:` or `since:`. Then create another plan for the"
                            + " rest.");
        }
        if (!items.isEmpty()) {
            items.forEach(item -> counting.noted().add(item.run()));
            change(new ReplayPlanStoreWriteCommand.AddItems(plan.id(), items));
        }
    }

    /** The workflow version that a replay of this run would use. */
    public int versionForReplay(int workspace, String runId, ReplayPlanRequest order) {
        DatabaseRows.RunRow run = semel.javaWorkflows().find(workspace, runId);
        List<RunReplayPreviewer.RunPreview> found =
                planner.preview(List.of(run.id()), new RunReplayPreviewer.PreviewRequest(workspace, order, true));
        return found.isEmpty() ? run.version() : found.getFirst().version();
    }

    public ReplayPlanStoreWriteCommand.@Nullable ReplayPlan findPlan(int workspace, RunId plan) {
        return semel.view(reads -> reads.plans().plan(workspace, plan));
    }

    /** Newest first. */
    public List<ReplayPlanStoreWriteCommand.ReplayPlan> listPlans(int workspace, @Nullable RunId before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().page(workspace, before, limit)));
    }

    public List<ReplayPlanStoreWriteCommand.PlanItem> listItems(
            ReplayPlanQueries.ItemFilter wanted, @Nullable RunId after, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().items(wanted, after, limit)));
    }

    /** The progress of a plan, counted by the states of its runs. */
    public List<ReplayPlanQueries.ItemCount> progress(RunId plan) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().progress(plan)));
    }

    public ReplayPlanStoreWriteCommand.ReplayPlan approve(int workspace, RunId plan, String actor) {
        ReplayPlanStoreWriteCommand.ReplayPlan approved =
                existing(maybeChange(new ReplayPlanStoreWriteCommand.ApprovePlan(
                        workspace, plan, new StoreWriteCommand.ChangeAuthor(semel.newId(), actor, ""))));
        if (approved.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + approved.idText() + " was created by you, or is no longer waiting for an approval. It was"
                            + " not approved.",
                    "Ask another user to approve the plan with their own token.");
        }
        return approved;
    }

    /**
     * Applies a plan: its safe replays and those that {@code manner} includes (null: as requested with the plan).
     * Rejects the plan and reports the differences if its runs changed since it was created. The replays continue in
     * the background on any worker; a repeated call returns the current state.
     */
    public ReplayPlanStoreWriteCommand.ReplayPlan apply(
            int workspace, RunId id, @Nullable ReplayPlanApplyOptions applyOptions, String actor) {
        ReplayPlanStoreWriteCommand.ReplayPlan plan = existing(findPlan(workspace, id));
        if (plan.state() == ReplayPlanStoreWriteCommand.PlanState.PLANNED) {
            ReplayPlanApplyOptions said = plan.applyOptions() == null
                    ? ReplayPlanApplyOptions.SAFE
                    : ReplayPlanApplyOptions.parse(plan.applyOptions());
            ReplayPlanApplyOptions meant = applyOptions == null ? said : applyOptions;
            requireReady(plan);
            requireAsApproved(plan, said, meant);
            requireUnchanged(plan, meant);
            StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), actor, "");
            plan = existing(maybeChange(new ReplayPlanStoreWriteCommand.StartApplying(
                    workspace, id, meant.toJson().toString(), by)));
            requireReady(plan);
        }
        if (plan.state() == ReplayPlanStoreWriteCommand.PlanState.STOPPED
                || plan.state() == ReplayPlanStoreWriteCommand.PlanState.PLANNING) {
            throw outOfDate(plan, "is " + plan.state().word(), Map.of());
        }
        replayer.wakeUp();
        return plan;
    }

    private void requireReady(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        if (plan.state() != ReplayPlanStoreWriteCommand.PlanState.PLANNED) {
            return;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        if (plan.validUntil() <= now) {
            throw outOfDate(
                    plan,
                    "has expired: it was valid for " + ReplayPlanStoreWriteCommand.VALIDITY.toMinutes() + " minutes",
                    Map.of());
        }
        if (plan.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText()
                            + " needs the approval of a user other than its creator. Nothing was replayed.",
                    "Ask another user to approve the plan: POST /v1/replays/" + plan.idText() + "/approve.");
        }
    }

    /** An approval covers only the options that the approver has seen. */
    private static void requireAsApproved(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            ReplayPlanApplyOptions applyOptions,
            ReplayPlanApplyOptions meant) {
        if (!"".equals(plan.approvedBy()) && !applyOptions.equals(meant)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText() + " was approved with the options " + applyOptions.toJson() + ", not with "
                            + meant.toJson() + ". Nothing was replayed.",
                    "Apply the plan without options: Semel then uses the approved options. Or create a plan with the"
                            + " new options and get it approved.");
        }
    }

    /** Compares every item with the current state of its run. */
    private void requireUnchanged(ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        RunReplayPreviewer.PreviewRequest wanted = new RunReplayPreviewer.PreviewRequest(
                plan.ws(), ReplayPlanRequest.parse(plan.request()), plan.input() != null);
        Map<String, String> moved = new TreeMap<>();
        long allowed = 0;
        RunId after = null;
        boolean more = true;
        while (more) {
            List<ReplayPlanStoreWriteCommand.PlanItem> page =
                    listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), after, AT_ONCE);
            planner.findChanged(page, wanted).forEach((run, why) -> {
                if (moved.size() < MAX_DIFFERENCES) {
                    moved.put(run.text(), why);
                }
            });
            allowed += page.stream()
                    .filter(item -> item.worstAction() > 0 && applyOptions.allows(item.actions()))
                    .count();
            more = page.size() == AT_ONCE;
            after = page.isEmpty() ? null : page.getLast().run();
        }
        if (!moved.isEmpty()) {
            throw outOfDate(plan, "is out of date: its runs have changed since it was created", moved);
        }
        if (allowed == 0) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Plan " + plan.idText()
                            + " has no run that is safe to replay: effects could happen twice, or are in"
                            + " doubt. Nothing was replayed.",
                    "Check the items of the plan. To replay these runs anyway, set `include` to `ask` or"
                            + " `unprotected`.");
        }
    }

    private static SemelException outOfDate(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, String why, Map<String, String> moved) {
        return new SemelException(
                        ErrorCode.PLAN_OUT_OF_DATE,
                        "Plan " + plan.idText() + " " + why + ". Nothing was replayed.",
                        "Create a new plan for the same runs and check its items.")
                .with(
                        "differences",
                        moved.entrySet().stream()
                                .map(one -> Map.of("run_id", one.getKey(), "difference", one.getValue()))
                                .toList());
    }

    /** Stops a plan: replays that have started continue, and no further ones start. */
    public ReplayPlanStoreWriteCommand.ReplayPlan stop(int workspace, RunId plan, StoreWriteCommand.ChangeAuthor by) {
        return existing(maybeChange(new ReplayPlanStoreWriteCommand.StopPlan(workspace, plan, by)));
    }

    private static ReplayPlanStoreWriteCommand.ReplayPlan existing(
            ReplayPlanStoreWriteCommand.@Nullable ReplayPlan plan) {
        if (plan == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such replay plan in this workspace. Nothing was changed.",
                    "List the plans with GET /v1/replays. Semel deletes plans after 30 days.");
        }
        return plan;
    }

    /** Predicts what resuming this run would do. Changes nothing. */
    FailedRunResumePlan previewResume(DatabaseRows.RunRow run, FailedRunResumeRequest resumeRequest) {
        return new FailedRunResumePlan(
                run.runIdText(), replayer.resumePlanner().preview(run, resumeRequest, semel.newId()), resumeRequest);
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    void checkResumed(DatabaseRows.RunRow run, FailedRunResumePlan resumption, StoreWriteCommand.ResumeResult outcome) {
        if (outcome != StoreWriteCommand.ResumeResult.DONE) {
            throw resumption.rejection(
                    replayer.resumePlanner().describeState(run),
                    "Check its state: GET /v1/runs/" + run.runIdText() + ".");
        }
    }

    private <T> T change(ReplayPlanStoreWriteCommand<T> replay) {
        return semel.change(new StoreWriteCommand.ReplayPlanCommand<>(replay));
    }

    private ReplayPlanStoreWriteCommand.@Nullable ReplayPlan maybeChange(
            ReplayPlanStoreWriteCommand<ReplayPlanStoreWriteCommand.@Nullable ReplayPlan> replay) {
        return semel.changeOrNull(new StoreWriteCommand.ReplayPlanCommand<>(replay));
    }

    ReplayPlanExecutor replayer() {
        return replayer;
    }
}
