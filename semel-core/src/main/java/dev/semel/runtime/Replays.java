package dev.semel.runtime;

import dev.semel.engine.ReplayPreviewer;
import dev.semel.engine.ReplayExecutor;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ResumeRequest;
import dev.semel.replay.ReplayPlanSummary;
import dev.semel.run.RunId;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.StoredRows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Creates, approves and applies plans for safe replays of runs.
 * A plan predicts for every effect of every run what a replay does with it; it changes nothing else. Applying the plan
 * starts the replays, which reuse recorded effects.
 */
public final class Replays {
    /** Maximum number of runs in one plan. */
    public static final int MAX_RUNS = 50_000;

    private static final int AT_ONCE = 100;
    private static final int MAX_DIFFERENCES = 20;

    private final SemelRuntime semel;
    private final ReplayPreviewer planner;
    private final ReplayExecutor replayer;

    Replays(SemelRuntime semel, ReplayExecutor replayer) {
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
     * The request for a replay plan.
     *
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
            ApplyOptions manner) {
        /** A request whose plan applies only safe replays, without a rate limit. */
        public ReplayRequest(int workspace, String actor, RunSelection which, ReplayPlanRequest order, @Nullable String input, boolean approval) {
            this(workspace, actor, which, order, input, approval, ApplyOptions.SAFE);
        }
    }

    /** Creates and builds a plan; changes nothing else. */
    public ReplayPlanOperation.ReplayPlan plan(ReplayRequest asked) {
        return buildPlan(semel.change(createPlanEdit(asked)).id(), asked);
    }

    /** The change that creates an empty plan, for callers that commit it together with other changes. */
    public StoreCommand<ReplayPlanOperation.ReplayPlan> createPlanEdit(ReplayRequest asked) {
        String wish = asked.order().toJson();
        boolean said = asked.needsApproval() || !asked.manner().equals(ApplyOptions.SAFE);
        return new StoreCommand.ReplayPlanCommand<>(new ReplayPlanOperation.CreatePlan(
                semel.newId(),
                asked.workspace(),
                asked.actor(),
                wish,
                asked.input(),
                asked.needsApproval(),
                said ? asked.manner().toJson().toString() : null));
    }

    /** Builds the items of a created plan; returns a plan that is already built unchanged. */
    public ReplayPlanOperation.ReplayPlan buildPlan(RunId id, ReplayRequest asked) {
        ReplayPlanOperation.ReplayPlan laid = existing(findPlan(asked.workspace(), id));
        if (laid.state() != ReplayPlanOperation.PlanState.MAKING) {
            return laid;
        }
        ReplayPlanSummary summary = new ReplayPlanSummary();
        ReplayPreviewer.PreviewRequest wanted = new ReplayPreviewer.PreviewRequest(asked.workspace(), asked.order(), asked.input() != null);
        Counting counting = new Counting(summary, new HashSet<>(), new HashSet<>());
        switch (asked.selection()) {
            case RunSelection.ByRunId(List<String> runIds) -> {
                List<RunId> ids = runIds.stream()
                        .map(one -> semel.javaWorkflows().find(asked.workspace(), one).id())
                        .distinct()
                        .toList();
                for (int i = 0; i < ids.size(); i += AT_ONCE) {
                    note(laid, ids.subList(i, Math.min(ids.size(), i + AT_ONCE)), wanted, counting);
                }
            }
            case RunSelection.ByFilter(StoreQueries.RunFilter filter) -> all(laid, filter, wanted, counting);
        }
        long existing = progress(id).stream().mapToLong(ReplayPlanQueries.ItemCount::items).sum();
        if (existing != counting.noted().size()) {
            drop(laid, counting.noted());
        }
        // CRASH(plan-noted): The items are stored and the plan is not ready. A repeated request builds it again.
        semel.crashPoint("plan-noted");
        return Objects.requireNonNull(
                maybeChange(new ReplayPlanOperation.MarkReady(laid.id(), summary.toJson().toString())));
    }

    /** Totals so far, the lineages already included (each is replayed once), and the runs with an item. */
    private record Counting(ReplayPlanSummary summary, Set<RunId> seen, Set<RunId> noted) {}

    /**
     * Removes items that an earlier or concurrent build of the same plan left: they are not in the totals but would be
     * applied. Runs after all items are stored, because a concurrent build may be counting the same ones.
     */
    private void drop(ReplayPlanOperation.ReplayPlan plan, Set<RunId> noted) {
        RunId after = null;
        List<ReplayPlanOperation.PlanItem> page;
        do {
            page = listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), after, AT_ONCE);
            List<RunId> left = page.stream()
                    .map(ReplayPlanOperation.PlanItem::run)
                    .filter(run -> !noted.contains(run))
                    .toList();
            if (!left.isEmpty()) {
                change(new ReplayPlanOperation.RemoveItems(plan.id(), left));
            }
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == AT_ONCE);
    }

    private void all(ReplayPlanOperation.ReplayPlan plan, StoreQueries.RunFilter filter, ReplayPreviewer.PreviewRequest wanted, Counting counting) {
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

    private void note(ReplayPlanOperation.ReplayPlan plan, List<RunId> ids, ReplayPreviewer.PreviewRequest wanted, Counting counting) {
        List<ReplayPlanOperation.PlanItem> items = new ArrayList<>();
        for (ReplayPreviewer.RunPreview one : planner.preview(ids, wanted)) {
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
                    "The request covers more than " + MAX_RUNS
                            + " runs. No plan was created and nothing was replayed.",
                    "Narrow the filter, for example by workflow: or since:, and create another plan for the rest.");
        }
        if (!items.isEmpty()) {
            items.forEach(item -> counting.noted().add(item.run()));
            change(new ReplayPlanOperation.AddItems(plan.id(), items));
        }
    }

    /** The workflow version that a replay of this run would use. */
    public int versionForReplay(int workspace, String runId, ReplayPlanRequest order) {
        StoredRows.RunRow run = semel.javaWorkflows().find(workspace, runId);
        List<ReplayPreviewer.RunPreview> found = planner.preview(List.of(run.id()), new ReplayPreviewer.PreviewRequest(workspace, order, true));
        return found.isEmpty() ? run.version() : found.getFirst().version();
    }

    /** Null if this workspace has no such plan. */
    public ReplayPlanOperation.@Nullable ReplayPlan findPlan(int workspace, RunId plan) {
        return semel.view(reads -> reads.plans().plan(workspace, plan));
    }

    /** Newest first. */
    public List<ReplayPlanOperation.ReplayPlan> listPlans(int workspace, @Nullable RunId before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().page(workspace, before, limit)));
    }

    public List<ReplayPlanOperation.PlanItem> listItems(ReplayPlanQueries.ItemFilter wanted, @Nullable RunId after, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().items(wanted, after, limit)));
    }

    /** The progress of a plan, counted by the states of its runs. */
    public List<ReplayPlanQueries.ItemCount> progress(RunId plan) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().progress(plan)));
    }

    public ReplayPlanOperation.ReplayPlan approve(int workspace, RunId plan, String actor) {
        ReplayPlanOperation.ReplayPlan approved =
                existing(maybeChange(new ReplayPlanOperation.ApprovePlan(workspace, plan, new StoreCommand.ChangeAuthor(semel.newId(), actor, ""))));
        if (approved.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + approved.idText() + " was created by you, or is no longer waiting for an approval. It was"
                            + " not approved.",
                    "Ask another user to approve it with their own token.");
        }
        return approved;
    }

    /**
     * Applies a plan: its safe replays and those that {@code manner} includes (null: as requested with the plan).
     * Rejects the plan and reports the differences if its runs changed since it was created. The replays continue in
     * the background on any worker; a repeated call returns the current state.
     */
    public ReplayPlanOperation.ReplayPlan apply(int workspace, RunId id, @Nullable ApplyOptions manner, String actor) {
        ReplayPlanOperation.ReplayPlan plan = existing(findPlan(workspace, id));
        if (plan.state() == ReplayPlanOperation.PlanState.PLANNED) {
            ApplyOptions said = plan.applyOptions() == null ? ApplyOptions.SAFE : ApplyOptions.parse(plan.applyOptions());
            ApplyOptions meant = manner == null ? said : manner;
            requireReady(plan);
            requireAsApproved(plan, said, meant);
            requireUnchanged(plan, meant);
            StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), actor, "");
            plan = existing(
                    maybeChange(new ReplayPlanOperation.StartApplying(workspace, id, meant.toJson().toString(), by)));
            requireReady(plan);
        }
        if (plan.state() == ReplayPlanOperation.PlanState.STOPPED || plan.state() == ReplayPlanOperation.PlanState.MAKING) {
            throw outOfDate(plan, "is " + plan.state().word(), Map.of());
        }
        replayer.wakeUp();
        return plan;
    }

    private void requireReady(ReplayPlanOperation.ReplayPlan plan) {
        if (plan.state() != ReplayPlanOperation.PlanState.PLANNED) {
            return;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        if (plan.validUntil() <= now) {
            throw outOfDate(plan, "has expired: it was valid for " + ReplayPlanOperation.VALIDITY.toMinutes() + " minutes", Map.of());
        }
        if (plan.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText()
                            + " needs the approval of a user other than its creator. Nothing was replayed.",
                    "Ask another user to approve it: POST /v1/replays/" + plan.idText() + "/approve.");
        }
    }

    /** An approval covers only the options that the approver has seen. */
    private static void requireAsApproved(ReplayPlanOperation.ReplayPlan plan, ApplyOptions said, ApplyOptions meant) {
        if (!"".equals(plan.approvedBy()) && !said.equals(meant)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText() + " was approved with the options " + said.toJson() + ", not with "
                            + meant.toJson() + ". Nothing was replayed.",
                    "Apply the plan without options, as it was approved; or create a plan with the new options and get"
                            + " it approved.");
        }
    }

    /** Compares every item with the current state of its run. */
    private void requireUnchanged(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        ReplayPreviewer.PreviewRequest wanted = new ReplayPreviewer.PreviewRequest(plan.ws(), ReplayPlanRequest.parse(plan.request()), plan.input() != null);
        Map<String, String> moved = new TreeMap<>();
        long allowed = 0;
        RunId after = null;
        boolean more = true;
        while (more) {
            List<ReplayPlanOperation.PlanItem> page = listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), after, AT_ONCE);
            planner.findChanged(page, wanted).forEach((run, why) -> {
                if (moved.size() < MAX_DIFFERENCES) {
                    moved.put(run.text(), why);
                }
            });
            allowed += page.stream()
                    .filter(item -> item.worstAction() > 0 && manner.allows(item.actions()))
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
                    "Plan " + plan.idText() + " has no run that is safe to replay: effects could happen twice, or are in"
                            + " doubt. Nothing was replayed.",
                    "Check the items of the plan. To replay them anyway, set include to ask or unprotected.");
        }
    }

    private static SemelException outOfDate(ReplayPlanOperation.ReplayPlan plan, String why, Map<String, String> moved) {
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
    public ReplayPlanOperation.ReplayPlan stop(int workspace, RunId plan, StoreCommand.ChangeAuthor by) {
        return existing(maybeChange(new ReplayPlanOperation.StopPlan(workspace, plan, by)));
    }

    private static ReplayPlanOperation.ReplayPlan existing(ReplayPlanOperation.@Nullable ReplayPlan plan) {
        if (plan == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such replay plan in this workspace. Nothing was changed.",
                    "List the plans with GET /v1/replays. Semel deletes plans after 30 days.");
        }
        return plan;
    }

    /** Predicts what resuming this run would do. Changes nothing. */
    ResumePlan previewResume(StoredRows.RunRow run, ResumeRequest wish) {
        return new ResumePlan(run.runIdText(), replayer.resumePlanner().preview(run, wish, semel.newId()), wish);
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    void checkResumed(StoredRows.RunRow run, ResumePlan resumption, StoreCommand.ResumeResult outcome) {
        if (outcome != StoreCommand.ResumeResult.DONE) {
            throw resumption.rejection(
                    replayer.resumePlanner().describeState(run), "Check its state: GET /v1/runs/" + run.runIdText() + ".");
        }
    }

    /** The predicted steps of a plan item. */
    public static ReplayPreview previewOf(ReplayPlanOperation.PlanItem item) {
        return ReplayPreview.parse(item.preview());
    }

    private <T> T change(ReplayPlanOperation<T> replay) {
        return semel.change(new StoreCommand.ReplayPlanCommand<>(replay));
    }

    private ReplayPlanOperation.@Nullable ReplayPlan maybeChange(ReplayPlanOperation<ReplayPlanOperation.@Nullable ReplayPlan> replay) {
        return semel.changeOrNull(new StoreCommand.ReplayPlanCommand<>(replay));
    }

    ReplayExecutor replayer() {
        return replayer;
    }
}
