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
 * Safe replays: first a plan, which says for every effect of every run what will become of it and changes nothing; then,
 * where somebody wants it, its application. Nothing that is done is done again.
 */
public final class Replays {
    /** A plan is for so many runs at most. */
    public static final int MOST_RUNS = 50_000;

    private static final int AT_ONCE = 100;
    private static final int DIFFERENCES_TOLD = 20;

    private final Semel semel;
    private final Planner planner;
    private final Replayer replayer;

    Replays(Semel semel, Replayer replayer) {
        this.semel = semel;
        this.planner = replayer.planner();
        this.replayer = replayer;
    }

    /** Which runs a plan is for: these, or all that a filter finds. */
    public sealed interface Which {
        record These(List<String> runIds) implements Which {}

        /** @param filter its cursor and its limit do not count */
        record All(Reads.RunFilter filter) implements Which {}
    }

    /**
     * What a plan is asked for.
     *
     * @param input what the runs get instead of their own; null for that
     * @param approval somebody else must approve the plan before it is applied
     * @param manner how it is to be applied; what is approved is applied so and in no other way
     */
    public record Asked(
            int workspace,
            String actor,
            Which which,
            Order order,
            @Nullable String input,
            boolean approval,
            Manner manner) {
        /** One whose safe part is applied, as fast as it goes. */
        public Asked(int workspace, String actor, Which which, Order order, @Nullable String input, boolean approval) {
            this(workspace, actor, which, order, input, approval, Manner.SAFE);
        }
    }

    /** Makes a plan, and changes nothing else. */
    public Replay.Plan plan(Asked asked) {
        return make(semel.change(laying(asked)).id(), asked);
    }

    /** The change that begins a plan, for whoever makes it together with something else. */
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

    /** Fills a plan that has begun, as it was asked for; one that is made is told as it is. */
    public Replay.Plan make(RunId id, Asked asked) {
        Replay.Plan laid = there(find(asked.workspace(), id));
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
        long there = progress(id).stream().mapToLong(Plans.Count::items).sum();
        if (there != counting.noted().size()) {
            drop(laid, counting.noted());
        }
        // CRASH(plan-noted): The items are there and the plan is not ready. Asked for again it is made anew.
        semel.point("plan-noted");
        return Objects.requireNonNull(
                maybeChange(new Replay.Ready(laid.id(), summary.toJson().toString())));
    }

    /** What was counted so far, which lineages were (several runs of one are replayed once), and which items there are. */
    private record Counting(Summary summary, Set<RunId> seen, Set<RunId> noted) {}

    /**
     * Removes what an attempt before has left, or somebody who makes the same plan at the same time: it was not counted, and
     * would be applied. Not before the others are noted, because that one may be counting them.
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
                items.add(one.item()); // an older run of its lineage came first
            }
        }
        if (counting.summary().runs() > MOST_RUNS) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "There are more than " + MOST_RUNS + " such runs. No plan was made and nothing was replayed.",
                    "Narrow the filter, for example by workflow: or since:, and plan the rest afterwards.");
        }
        if (!items.isEmpty()) {
            items.forEach(item -> counting.noted().add(item.run()));
            change(new Replay.Note(plan.id(), items));
        }
    }

    /** The version of its workflow that the replay of a run would go by. */
    public int version(int workspace, String runId, Order order) {
        Rows.Run run = semel.library().find(workspace, runId);
        List<Planner.Prospect> found = planner.look(List.of(run.id()), new Planner.Wanted(workspace, order, true));
        return found.isEmpty() ? run.version() : found.getFirst().version();
    }

    /** Null: this workspace has no such plan. */
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

    /** How far a plan is, by the end states of the runs themselves. */
    public List<Plans.Count> progress(RunId plan) {
        return Objects.requireNonNull(semel.view(reads -> reads.plans().progress(plan)));
    }

    public Replay.Plan approve(int workspace, RunId plan, String actor) {
        Replay.Plan approved =
                there(maybeChange(new Replay.Approve(workspace, plan, new Edit.By(semel.newId(), actor, ""))));
        if (approved.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + approved.text() + " was made by you, or is not waiting for an approval any more. It was "
                            + "not approved.",
                    "Let somebody else approve it, with a token of their own.");
        }
        return approved;
    }

    /**
     * Applies a plan: the safe part, and what the manner includes (null: as was said when it was made). Refused with the difference where the world has moved
     * since it was made. It goes on by itself, at this worker or another; asked again it tells how it stands.
     */
    public Replay.Plan apply(int workspace, RunId id, @Nullable Manner manner, String actor) {
        Replay.Plan plan = there(find(workspace, id));
        if (plan.state() == Replay.State.PLANNED) {
            Manner said = plan.how() == null ? Manner.SAFE : Manner.parse(plan.how());
            Manner meant = manner == null ? said : manner;
            refuseUnready(plan);
            refuseUnapproved(plan, said, meant);
            refuseMoved(plan, meant);
            Edit.By by = new Edit.By(semel.newId(), actor, "");
            plan = there(
                    maybeChange(new Replay.Begin(workspace, id, meant.toJson().toString(), by)));
            refuseUnready(plan);
        }
        if (plan.state() == Replay.State.STOPPED || plan.state() == Replay.State.MAKING) {
            throw outOfDate(plan, "is " + plan.state().word(), Map.of());
        }
        replayer.wakeUp();
        return plan;
    }

    private void refuseUnready(Replay.Plan plan) {
        if (plan.state() != Replay.State.PLANNED) {
            return;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        if (plan.validUntil() <= now) {
            throw outOfDate(plan, "was valid for " + Replay.VALID.toMinutes() + " minutes, which are over", Map.of());
        }
        if (plan.approvedBy() == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.text()
                            + " needs the approval of somebody else than its maker. Nothing was replayed.",
                    "Let somebody else approve it: POST /v1/replays/" + plan.text() + "/approve.");
        }
    }

    /** Who approved it has read what was to be done, and not what somebody would rather do afterwards. */
    private static void refuseUnapproved(Replay.Plan plan, Manner said, Manner meant) {
        if (!"".equals(plan.approvedBy()) && !said.equals(meant)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.text() + " was approved to be applied with " + said.toJson() + ", and not with "
                            + meant.toJson() + ". Nothing was replayed.",
                    "Apply it without saying how, as it was approved; or make a new plan that says how, and let it be"
                            + " approved.");
        }
    }

    /** Holds every item against the world as it is now. */
    private void refuseMoved(Replay.Plan plan, Manner manner) {
        Planner.Wanted wanted = new Planner.Wanted(plan.ws(), Order.parse(plan.wish()), plan.input() != null);
        Map<String, String> moved = new TreeMap<>();
        long allowed = 0;
        RunId after = null;
        boolean more = true;
        while (more) {
            List<Replay.Item> page = items(new Plans.Wanted(plan.id(), 0, null), after, AT_ONCE);
            planner.moved(page, wanted).forEach((run, why) -> {
                if (moved.size() < DIFFERENCES_TOLD) {
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
            throw outOfDate(plan, "does not fit any more: the world has moved since it was made", moved);
        }
        if (allowed == 0) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Plan " + plan.text() + " has no run that can be replayed without a person: effects could happen "
                            + "twice, or are in doubt. Nothing was replayed.",
                    "Look at its items first; what is to be done all the same is named in include: ask, unprotected.");
        }
    }

    private static SemelException outOfDate(Replay.Plan plan, String why, Map<String, String> moved) {
        return new SemelException(
                        ErrorCode.PLAN_OUT_OF_DATE,
                        "Plan " + plan.text() + " " + why + ". Nothing was replayed.",
                        "Make a new plan for the same runs and look at it.")
                .with(
                        "differences",
                        moved.entrySet().stream()
                                .map(one -> Map.of("run_id", one.getKey(), "difference", one.getValue()))
                                .toList());
    }

    /** What has begun goes on; nothing more is started. */
    public Replay.Plan stop(int workspace, RunId plan, Edit.By by) {
        return there(maybeChange(new Replay.Stop(workspace, plan, by)));
    }

    private static Replay.Plan there(Replay.@Nullable Plan plan) {
        if (plan == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such plan here. Nothing was changed.",
                    "Plans are listed at GET /v1/replays; they are kept for 30 days.");
        }
        return plan;
    }

    /** What it would mean to let this run go on in place. Changes nothing. */
    Resumption resumption(Rows.Run run, Resume wish) {
        return new Resumption(run.runIdText(), replayer.resumer().look(run, wish, semel.newId()), wish);
    }

    /** Refuses, with how the run stands by now, where somebody else was first. */
    void check(Rows.Run run, Resumption resumption, Edit.Resumed outcome) {
        if (outcome != Edit.Resumed.DONE) {
            throw resumption.refused(replayer.resumer().now(run), "Look at it: GET /v1/runs/" + run.runIdText() + ".");
        }
    }

    /** What is foretold for an item. */
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
