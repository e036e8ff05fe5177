package dev.semel;

import dev.semel.engine.Planner;
import dev.semel.engine.Replayer;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.replay.Outlook;
import dev.semel.replay.Resume;
import dev.semel.replay.Summary;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import dev.semel.store.Rows;
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
    public static final int MOST_RUNS = 50_000;

    private static final int AT_ONCE = 100;
    private static final int MAX_DIFFERENCES = 20;

    private final Semel semel;
    private final Planner planner;
    private final Replayer replayer;

    Replays(Semel semel, Replayer replayer) {
        this.semel = semel;
        this.planner = replayer.planner();
        this.replayer = replayer;
    }

    /** The runs that a plan covers: listed by id, or selected by a filter. */
    public sealed interface Which {
        record These(List<String> runIds) implements Which {}

        /** @param filter its cursor and limit are ignored */
        record All(Reads.RunFilter filter) implements Which {}
    }

    /**
     * The request for a replay plan.
     *
     * @param input input that replaces the input of the runs; null to keep it
     * @param approval whether another user must approve the plan before it is applied
     * @param manner how to apply the plan; an approved plan can only be applied this way
     */
    public record Asked(
            int workspace,
            String actor,
            Which which,
            Order order,
            @Nullable String input,
            boolean approval,
            Manner manner) {
        /** A request whose plan applies only safe replays, without a rate limit. */
        public Asked(int workspace, String actor, Which which, Order order, @Nullable String input, boolean approval) {
            this(workspace, actor, which, order, input, approval, Manner.SAFE);
        }
    }

    /** Creates and builds a plan; changes nothing else. */
    public Replay.Plan plan(Asked asked) {
        return make(semel.change(laying(asked)).id(), asked);
    }

    /** The change that creates an empty plan, for callers that commit it together with other changes. */
    public Edit<Replay.Plan> laying(Asked asked) {
        String wish = asked.order().toJson();
        boolean said = asked.approval() || !asked.manner().equals(Manner.SAFE);
        return new Edit.Replaying<>(new Replay.Lay(
                semel.newId(),
                asked.workspace(),
                asked.actor(),
                wish,
                asked.input(),
                asked.approval(),
                said ? asked.manner().toJson().toString() : null));
    }

    /** Builds the items of a created plan; returns a plan that is already built unchanged. */
    public Replay.Plan make(RunId id, Asked asked) {
        Replay.Plan laid = existing(find(asked.workspace(), id));
        if (laid.state() != Replay.State.MAKING) {
            return laid;
        }
        Summary summary = new Summary();
        Planner.Wanted wanted = new Planner.Wanted(asked.workspace(), asked.order(), asked.input() != null);
        Counting counting = new Counting(summary, new HashSet<>(), new HashSet<>());
        switch (asked.which()) {
            case Which.These(List<String> runIds) -> {
                List<RunId> ids = runIds.stream()
                        .map(one -> semel.library().find(asked.workspace(), one).id())
                        .distinct()
                        .toList();
                for (int i = 0; i < ids.size(); i += AT_ONCE) {
                    note(laid, ids.subList(i, Math.min(ids.size(), i + AT_ONCE)), wanted, counting);
                }
            }
            case Which.All(Reads.RunFilter filter) -> all(laid, filter, wanted, counting);
        }
        long existing = progress(id).stream().mapToLong(Plans.Count::items).sum();
        if (existing != counting.noted().size()) {
            drop(laid, counting.noted());
        }
        // CRASH(plan-noted): The items are stored and the plan is not ready. A repeated request builds it again.
        semel.point("plan-noted");
        return Objects.requireNonNull(
                maybeChange(new Replay.Ready(laid.id(), summary.toJson().toString())));
    }

    /** Totals so far, the lineages already included (each is replayed once), and the runs with an item. */
    private record Counting(Summary summary, Set<RunId> seen, Set<RunId> noted) {}

    /**
     * Removes items that an earlier or concurrent build of the same plan left: they are not in the totals but would be
     * applied. Runs after all items are stored, because a concurrent build may be counting the same ones.
     */
    private void drop(Replay.Plan plan, Set<RunId> noted) {
        RunId after = null;
        List<Replay.Item> page;
        do {
            page = items(new Plans.Wanted(plan.id(), 0, null), after, AT_ONCE);
            List<RunId> left = page.stream()
                    .map(Replay.Item::run)
                    .filter(run -> !noted.contains(run))
                    .toList();
            if (!left.isEmpty()) {
                change(new Replay.Drop(plan.id(), left));
            }
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == AT_ONCE);
    }

    private void all(Replay.Plan plan, Reads.RunFilter filter, Planner.Wanted wanted, Counting counting) {
        RunId before = filter.before();
        boolean more = true;
        while (more) {
            Reads.RunFilter page = filter.page(before, AT_ONCE);
            List<RunId> ids = Objects.requireNonNull(semel.view(
                    reads -> reads.runs(page).stream().map(run -> run.id()).toList()));
            note(plan, ids, wanted, counting);
            more = ids.size() == AT_ONCE;
            before = ids.isEmpty() ? null : ids.getLast();
        }
    }

    private void note(Replay.Plan plan, List<RunId> ids, Planner.Wanted wanted, Counting counting) {
        List<Replay.Item> items = new ArrayList<>();
        for (Planner.Prospect one : planner.look(ids, wanted)) {
            boolean other = !one.base().id().equals(one.asked().id());
            if (counting.seen().add(one.base().id())) {
                counting.summary().add(one.outlook());
                items.add(one.item());
            } else if (!other) {
                items.add(one.item()); // an older run of its lineage was already included
            }
        }
        if (counting.summary().runs() > MOST_RUNS) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The request covers more than " + MOST_RUNS
                            + " runs. No plan was created and nothing was replayed.",
                    "Narrow the filter, for example by workflow: or since:, and create another plan for the rest.");
        }
        if (!items.isEmpty()) {
            items.forEach(item -> counting.noted().add(item.run()));
            change(new Replay.Note(plan.id(), items));
        }
    }

    /** The workflow version that a replay of this run would use. */
    public int version(int workspace, String runId, Order order) {
        Rows.Run run = semel.library().find(workspace, runId);
        List<Planner.Prospect> found = planner.look(List.of(run.id()), new Planner.Wanted(workspace, order, true));
        return found.isEmpty() ? run.version() : found.getFirst().version();
    }

    /** Null if this workspace has no such plan. */
    public Replay.@Nullable Plan find(int workspace, RunId plan) {
        return semel.view(reads -> reads.plans().plan(workspace, plan));
    }

    /** Newest first. */
    public List<Replay.Plan> page(int workspace, @Nullable RunId before, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().page(workspace, before, limit)));
    }

    public List<Replay.Item> items(Plans.Wanted wanted, @Nullable RunId after, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().items(wanted, after, limit)));
    }

    /** The progress of a plan, counted by the states of its runs. */
    public List<Plans.Count> progress(RunId plan) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().progress(plan)));
    }

    public Replay.Plan approve(int workspace, RunId plan, String actor) {
        Replay.Plan approved =
                existing(maybeChange(new Replay.Approve(workspace, plan, new Edit.By(semel.newId(), actor, ""))));
        if (approved.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + approved.text() + " was created by you, or is no longer waiting for an approval. It was"
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
    public Replay.Plan apply(int workspace, RunId id, @Nullable Manner manner, String actor) {
        Replay.Plan plan = existing(find(workspace, id));
        if (plan.state() == Replay.State.PLANNED) {
            Manner said = plan.how() == null ? Manner.SAFE : Manner.parse(plan.how());
            Manner meant = manner == null ? said : manner;
            requireReady(plan);
            requireAsApproved(plan, said, meant);
            requireUnchanged(plan, meant);
            Edit.By by = new Edit.By(semel.newId(), actor, "");
            plan = existing(
                    maybeChange(new Replay.Begin(workspace, id, meant.toJson().toString(), by)));
            requireReady(plan);
        }
        if (plan.state() == Replay.State.STOPPED || plan.state() == Replay.State.MAKING) {
            throw outOfDate(plan, "is " + plan.state().word(), Map.of());
        }
        replayer.wakeUp();
        return plan;
    }

    private void requireReady(Replay.Plan plan) {
        if (plan.state() != Replay.State.PLANNED) {
            return;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        if (plan.validUntil() <= now) {
            throw outOfDate(plan, "has expired: it was valid for " + Replay.VALID.toMinutes() + " minutes", Map.of());
        }
        if (plan.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.text()
                            + " needs the approval of a user other than its creator. Nothing was replayed.",
                    "Ask another user to approve it: POST /v1/replays/" + plan.text() + "/approve.");
        }
    }

    /** An approval covers only the options that the approver has seen. */
    private static void requireAsApproved(Replay.Plan plan, Manner said, Manner meant) {
        if (!"".equals(plan.approvedBy()) && !said.equals(meant)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.text() + " was approved with the options " + said.toJson() + ", not with "
                            + meant.toJson() + ". Nothing was replayed.",
                    "Apply the plan without options, as it was approved; or create a plan with the new options and get"
                            + " it approved.");
        }
    }

    /** Compares every item with the current state of its run. */
    private void requireUnchanged(Replay.Plan plan, Manner manner) {
        Planner.Wanted wanted = new Planner.Wanted(plan.ws(), Order.parse(plan.wish()), plan.input() != null);
        Map<String, String> moved = new TreeMap<>();
        long allowed = 0;
        RunId after = null;
        boolean more = true;
        while (more) {
            List<Replay.Item> page = items(new Plans.Wanted(plan.id(), 0, null), after, AT_ONCE);
            planner.moved(page, wanted).forEach((run, why) -> {
                if (moved.size() < MAX_DIFFERENCES) {
                    moved.put(run.text(), why);
                }
            });
            allowed += page.stream()
                    .filter(item -> item.worst() > 0 && manner.allows(item.actions()))
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
                    "Plan " + plan.text() + " has no run that is safe to replay: effects could happen twice, or are in"
                            + " doubt. Nothing was replayed.",
                    "Check the items of the plan. To replay them anyway, set include to ask or unprotected.");
        }
    }

    private static SemelException outOfDate(Replay.Plan plan, String why, Map<String, String> moved) {
        return new SemelException(
                        ErrorCode.PLAN_OUT_OF_DATE,
                        "Plan " + plan.text() + " " + why + ". Nothing was replayed.",
                        "Create a new plan for the same runs and check its items.")
                .with(
                        "differences",
                        moved.entrySet().stream()
                                .map(one -> Map.of("run_id", one.getKey(), "difference", one.getValue()))
                                .toList());
    }

    /** Stops a plan: replays that have started continue, and no further ones start. */
    public Replay.Plan stop(int workspace, RunId plan, Edit.By by) {
        return existing(maybeChange(new Replay.Stop(workspace, plan, by)));
    }

    private static Replay.Plan existing(Replay.@Nullable Plan plan) {
        if (plan == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such replay plan in this workspace. Nothing was changed.",
                    "List the plans with GET /v1/replays. Semel deletes plans after 30 days.");
        }
        return plan;
    }

    /** Predicts what resuming this run would do. Changes nothing. */
    Resumption resumption(Rows.Run run, Resume wish) {
        return new Resumption(run.runIdText(), replayer.resumer().look(run, wish, semel.newId()), wish);
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    void check(Rows.Run run, Resumption resumption, Edit.Resumed outcome) {
        if (outcome != Edit.Resumed.DONE) {
            throw resumption.refused(
                    replayer.resumer().now(run), "Check its state: GET /v1/runs/" + run.runIdText() + ".");
        }
    }

    /** The predicted steps of a plan item. */
    public static Outlook outlook(Replay.Item item) {
        return Outlook.parse(item.body());
    }

    private <T> T change(Replay<T> replay) {
        return semel.change(new Edit.Replaying<>(replay));
    }

    private Replay.@Nullable Plan maybeChange(Replay<Replay.@Nullable Plan> replay) {
        return semel.maybeChange(new Edit.Replaying<>(replay));
    }

    Replayer replayer() {
        return replayer;
    }
}
