package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanOperation.ItemOutcome;
import dev.semel.store.ReplayPlanOperation.PlanState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Plans of safe replays: made once, applied once, seen to by one worker at a time; and runs that begin with a record. */
interface ReplayRules {
    long LASTING = 10_000_000;

    Desk desk();

    private <T> T change(ReplayPlanOperation<T> replay) {
        return desk().change(new StoreCommand.ReplayPlanCommand<>(replay));
    }

    private RunId laid(boolean approval) {
        RunId id = desk().id();
        change(new ReplayPlanOperation.CreatePlan(id, desk().ws, "ann", "{}", null, approval));
        return id;
    }

    private static ReplayPlanOperation.PlanItem item(RunId run, int worst) {
        return new ReplayPlanOperation.PlanItem(run, worst, worst == 0 ? 0 : 1 << (worst - 1), "{}", ItemOutcome.PLANNED, null, "");
    }

    private ReplayPlanOperation.ReplayPlan plan(RunId id) {
        ReplayPlanOperation.ReplayPlan plan = desk().reads.plans().plan(desk().ws, id);
        assertNotNull(plan);
        return plan;
    }

    private RunId planned(RunId... runs) {
        RunId id = laid(false);
        change(new ReplayPlanOperation.AddItems(
                id, java.util.Arrays.stream(runs).map(run -> item(run, 3)).toList()));
        change(new ReplayPlanOperation.MarkReady(id, "{\"runs\":1}"));
        return id;
    }

    private RunId applying(RunId... runs) {
        RunId id = planned(runs);
        change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{}", desk().by("ann", "")));
        return id;
    }

    private List<ReplayPlanOperation.PlanItem> items(RunId plan, int actions, @Nullable ItemOutcome fate) {
        return desk().reads.plans().items(new ReplayPlanQueries.ItemFilter(plan, actions, fate), null, 100);
    }

    @Test
    default void a_plan_is_laid_once_and_gets_its_items_while_it_is_made() {
        RunId id = laid(false);
        ReplayPlanOperation.ReplayPlan again = change(new ReplayPlanOperation.CreatePlan(id, desk().ws, "bob", "{\"other\":1}", "1", true));
        assertEquals("ann", again.createdBy());
        assertEquals("{}", again.request());
        assertNull(again.input());
        assertEquals(PlanState.MAKING, again.state());
        RunId one = desk().id();
        RunId two = desk().id();
        assertEquals(2, change(new ReplayPlanOperation.AddItems(id, List.of(item(two, 6), item(one, 1)))));
        assertEquals(1, change(new ReplayPlanOperation.AddItems(id, List.of(item(one, 3)))), "made again after a crash");
        ReplayPlanOperation.ReplayPlan ready = change(new ReplayPlanOperation.MarkReady(id, "{\"runs\":2}"));
        assertEquals(PlanState.PLANNED, ready.state());
        assertEquals("{\"runs\":2}", ready.summary());
        assertEquals(desk().place.time() + ReplayPlanOperation.VALIDITY.toNanos() / 1_000, ready.validUntil());
        assertEquals(0, change(new ReplayPlanOperation.AddItems(id, List.of(item(desk().id(), 1)))), "it is ready");
        assertEquals(
                List.of(one, two),
                items(id, 0, null).stream().map(ReplayPlanOperation.PlanItem::run).toList());
        assertEquals(
                List.of(one), items(id, 4, null).stream().map(ReplayPlanOperation.PlanItem::run).toList());
        assertEquals(
                List.of(two),
                desk().reads.plans().items(new ReplayPlanQueries.ItemFilter(id, 0, ItemOutcome.PLANNED), one, 100).stream()
                        .map(ReplayPlanOperation.PlanItem::run)
                        .toList());
        assertEquals(List.of(), items(id, 0, ItemOutcome.APPLIED));
        assertNull(desk().reads.plans().plan(desk().ws + 1, id), "another workspace");
        assertEquals(
                List.of(id),
                desk().reads.plans().page(desk().ws, null, 10).stream()
                        .map(ReplayPlanOperation.ReplayPlan::id)
                        .toList());
        assertEquals(List.of(), desk().reads.plans().page(desk().ws, id, 10));
    }

    @Test
    default void a_plan_is_applied_once_and_only_while_it_is_valid() {
        RunId id = planned(desk().id());
        StoreCommand.ChangeAuthor by = desk().by("bob", "");
        ReplayPlanOperation.ReplayPlan begun = change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{\"a\":1}", by));
        assertEquals(PlanState.APPLYING, begun.state());
        assertEquals("bob", begun.appliedBy());
        ReplayPlanOperation.ReplayPlan again = change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{\"b\":1}", desk().by("eve", "")));
        assertEquals("{\"a\":1}", again.applyOptions());
        assertEquals(
                1,
                desk().reads.audit(desk().ws, null, 100).stream()
                        .filter(row -> row.action().equals("replay.apply"))
                        .count());
        RunId late = planned(desk().id());
        desk().place.advance(ReplayPlanOperation.VALIDITY);
        assertEquals(
                PlanState.PLANNED,
                change(new ReplayPlanOperation.StartApplying(desk().ws, late, "{}", desk().by("bob", "")))
                        .state());
    }

    @Test
    default void a_plan_that_needs_it_is_approved_by_somebody_else_than_its_maker() {
        RunId id = laid(true);
        change(new ReplayPlanOperation.MarkReady(id, "{}"));
        ReplayPlanOperation<ReplayPlanOperation.@Nullable ReplayPlan> own = new ReplayPlanOperation.ApprovePlan(desk().ws, id, desk().by("ann", ""));
        assertNull(plan(change(own).id()).approvedBy());
        assertEquals(
                PlanState.PLANNED,
                change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{}", desk().by("ann", "")))
                        .state());
        assertEquals(
                "bob",
                change(new ReplayPlanOperation.ApprovePlan(desk().ws, id, desk().by("bob", ""))).approvedBy());
        assertEquals(
                "bob",
                change(new ReplayPlanOperation.ApprovePlan(desk().ws, id, desk().by("eve", ""))).approvedBy());
        assertEquals(
                PlanState.APPLYING,
                change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{}", desk().by("ann", "")))
                        .state());
    }

    @Test
    default void a_plan_is_seen_to_by_one_worker_at_a_time() {
        RunId run = desk().id();
        RunId id = applying(run);
        RunId one = desk().id();
        RunId two = desk().id();
        assertTrue(change(new ReplayPlanOperation.ClaimPlan(id, one, LASTING)));
        assertFalse(change(new ReplayPlanOperation.ClaimPlan(id, two, LASTING)));
        assertTrue(change(new ReplayPlanOperation.ClaimPlan(id, one, LASTING)), "it goes on with it");
        desk().place.advance(Duration.ofSeconds(10));
        assertTrue(change(new ReplayPlanOperation.ClaimPlan(id, two, LASTING)));
        ReplayPlanOperation.PlanItem left = item(run, 3).withOutcome(ItemOutcome.LEFT_OUT, null, "why");
        assertFalse(change(new ReplayPlanOperation.RecordItems(id, one, List.of(left))));
        assertEquals(ItemOutcome.PLANNED, items(id, 0, null).getFirst().outcome());
        RunId made = desk().fresh();
        ReplayPlanOperation.PlanItem applied = item(run, 3).withOutcome(ItemOutcome.APPLIED, made, "");
        assertFalse(change(new ReplayPlanOperation.RecordItems(id, one, List.of(applied))), "it comes late");
        assertEquals(made, items(id, 0, ItemOutcome.APPLIED).getFirst().newRun(), "but the run is there");
        assertTrue(change(new ReplayPlanOperation.RecordItems(id, two, List.of(left))));
        assertEquals(ItemOutcome.APPLIED, items(id, 0, null).getFirst().outcome(), "what is settled stays");
    }

    @Test
    default void a_worker_sees_plans_that_are_free_and_its_own_those_that_wait_the_longest_first() {
        RunId busy = applying(desk().id());
        RunId own = applying(desk().id());
        RunId open = applying(desk().id());
        RunId me = desk().id();
        change(new ReplayPlanOperation.ClaimPlan(busy, desk().id(), LASTING));
        change(new ReplayPlanOperation.ClaimPlan(own, me, LASTING));
        long now = desk().place.time();
        assertEquals(List.of(open, own), free(me, now));
        assertEquals(List.of(open), free(desk().id(), now));
        assertEquals(List.of(open, busy, own), free(me, now + LASTING), "its time is over");
        assertFalse(change(new ReplayPlanOperation.ReleasePlan(busy, me, "")), "it is another one's");
        assertTrue(change(new ReplayPlanOperation.ReleasePlan(own, me, "")));
        assertFalse(change(new ReplayPlanOperation.ReleasePlan(own, me, "")), "it was let go before");
        assertEquals(List.of(own, open), free(desk().id(), now));
    }

    @Test
    default void what_a_plan_waits_for_stands_with_it_until_somebody_goes_on() {
        RunId id = applying(desk().id());
        RunId one = desk().id();
        change(new ReplayPlanOperation.ClaimPlan(id, one, LASTING));
        assertTrue(change(new ReplayPlanOperation.ReleasePlan(id, one, "It waits.")));
        assertEquals("It waits.", plan(id).note());
        RunId two = desk().id();
        change(new ReplayPlanOperation.ClaimPlan(id, two, LASTING));
        assertTrue(change(new ReplayPlanOperation.RecordItems(id, two, List.of())));
        assertEquals("It waits.", plan(id).note(), "nothing was done");
        ReplayPlanOperation.PlanItem item = items(id, 0, null).getFirst();
        assertTrue(change(new ReplayPlanOperation.RecordItems(id, two, List.of(item.withOutcome(ItemOutcome.REFUSED, null, "no")))));
        assertEquals("", plan(id).note());
    }

    private List<RunId> free(RunId worker, long now) {
        return desk().reads.plans().claimable(worker, now, 10).stream()
                .map(ReplayPlanOperation.ReplayPlan::id)
                .toList();
    }

    @Test
    default void what_was_approved_is_applied_as_it_was_said_and_in_no_other_way() {
        RunId id = desk().id();
        change(new ReplayPlanOperation.CreatePlan(id, desk().ws, "ann", "{}", null, true, "{\"a\":1}"));
        change(new ReplayPlanOperation.MarkReady(id, "{}"));
        change(new ReplayPlanOperation.ApprovePlan(desk().ws, id, desk().by("bob", "")));
        ReplayPlanOperation.ReplayPlan other = change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{\"b\":1}", desk().by("ann", "")));
        assertEquals(PlanState.PLANNED, other.state());
        assertEquals("{\"a\":1}", other.applyOptions());
        assertEquals(
                PlanState.APPLYING,
                change(new ReplayPlanOperation.StartApplying(desk().ws, id, "{\"a\":1}", desk().by("ann", "")))
                        .state());
        RunId free = desk().id();
        change(new ReplayPlanOperation.CreatePlan(free, desk().ws, "ann", "{}", null, false, "{\"a\":1}"));
        change(new ReplayPlanOperation.MarkReady(free, "{}"));
        assertEquals(
                "{\"b\":1}",
                change(new ReplayPlanOperation.StartApplying(desk().ws, free, "{\"b\":1}", desk().by("ann", "")))
                        .applyOptions(),
                "nobody need approve this one");
    }

    @Test
    default void items_that_are_not_meant_any_more_go_while_the_plan_is_made() {
        RunId id = laid(false);
        RunId one = desk().id();
        RunId two = desk().id();
        change(new ReplayPlanOperation.AddItems(id, List.of(item(one, 3), item(two, 3))));
        assertEquals(1, change(new ReplayPlanOperation.RemoveItems(id, List.of(one))));
        assertEquals(
                List.of(two), items(id, 0, null).stream().map(ReplayPlanOperation.PlanItem::run).toList());
        change(new ReplayPlanOperation.MarkReady(id, "{}"));
        assertEquals(0, change(new ReplayPlanOperation.RemoveItems(id, List.of(two))), "it is ready");
        assertEquals(1, items(id, 0, null).size());
    }

    @Test
    default void of_many_runs_those_are_told_that_have_ended() {
        RunId open = desk().fresh();
        List<RunId> all = new java.util.ArrayList<>(List.of(open, desk().id()));
        for (int i = 0; i < 27; i++) {
            RunId run = desk().fresh();
            desk().apply(i == 0 ? desk().failed(run) : desk().end(run));
            all.add(run);
        }
        List<ReplayPlanQueries.EndedRun> ended = desk().reads.plans().endedRuns(all);
        assertEquals(27, ended.size());
        assertEquals(
                List.of(all.get(2)),
                ended.stream()
                        .filter(one -> one.state() == RunState.FAILED)
                        .map(ReplayPlanQueries.EndedRun::run)
                        .toList());
        assertTrue(ended.stream().noneMatch(one -> one.run().equals(open)));
        assertEquals(List.of(), desk().reads.plans().endedRuns(List.of()));
    }

    @Test
    default void progress_is_what_the_new_runs_say_of_themselves() {
        RunId one = desk().id();
        RunId two = desk().id();
        RunId three = desk().id();
        RunId id = applying(one, two, three);
        RunId worker = desk().id();
        change(new ReplayPlanOperation.ClaimPlan(id, worker, LASTING));
        RunId ended = desk().fresh();
        RunId running = desk().fresh();
        change(new ReplayPlanOperation.RecordItems(
                id,
                worker,
                List.of(
                        item(one, 3).withOutcome(ItemOutcome.APPLIED, ended, ""),
                        item(two, 3).withOutcome(ItemOutcome.APPLIED, running, ""))));
        desk().apply(desk().end(ended));
        assertEquals(
                List.of(
                        new ReplayPlanQueries.ItemCount(ItemOutcome.PLANNED, null, 1),
                        new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.STARTED, 1),
                        new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                desk().reads.plans().progress(id));
    }

    @Test
    default void a_plan_that_is_finished_or_stopped_is_not_applied_any_more() {
        RunId id = applying(desk().id());
        assertEquals(id, assertThere(desk().reads.plans().applying()).id());
        RunId worker = desk().id();
        change(new ReplayPlanOperation.ClaimPlan(id, worker, LASTING));
        assertTrue(change(new ReplayPlanOperation.FinishPlan(id, PlanState.DONE, "")));
        assertFalse(change(new ReplayPlanOperation.FinishPlan(id, PlanState.STOPPED, "too late")));
        assertEquals(PlanState.DONE, plan(id).state());
        assertNull(plan(id).takenBy());
        assertNull(desk().reads.plans().applying());
        assertFalse(change(new ReplayPlanOperation.ClaimPlan(id, worker, LASTING)));
        RunId other = applying(desk().id());
        ReplayPlanOperation.ReplayPlan stopped = change(new ReplayPlanOperation.StopPlan(desk().ws, other, desk().by("ann", "enough")));
        assertEquals(PlanState.STOPPED, stopped.state());
        assertEquals("enough", stopped.note());
        assertEquals(
                PlanState.DONE,
                change(new ReplayPlanOperation.StopPlan(desk().ws, id, desk().by("ann", ""))).state());
    }

    private static ReplayPlanOperation.ReplayPlan assertThere(ReplayPlanOperation.@Nullable ReplayPlan plan) {
        assertNotNull(plan);
        return plan;
    }

    @Test
    default void old_plans_go_in_small_parts_and_those_that_are_applied_stay() {
        RunId id = planned(desk().id(), desk().id(), desk().id());
        RunId busy = applying(desk().id());
        long later = desk().place.time() + 1;
        assertTrue(desk().reads.plans().hasPlansBefore(later));
        assertFalse(desk().reads.plans().hasPlansBefore(later - 1));
        assertEquals(0, change(new ReplayPlanOperation.DeleteOldPlans(later - 1, 100)));
        assertEquals(2, change(new ReplayPlanOperation.DeleteOldPlans(later, 2)));
        assertEquals(1, change(new ReplayPlanOperation.DeleteOldPlans(later, 2)));
        assertEquals(1, change(new ReplayPlanOperation.DeleteOldPlans(later, 2)), "the plan itself");
        assertEquals(0, change(new ReplayPlanOperation.DeleteOldPlans(later, 2)));
        assertNull(desk().reads.plans().plan(desk().ws, id));
        assertEquals(PlanState.APPLYING, plan(busy).state());
        assertFalse(desk().reads.plans().hasPlansBefore(later));
    }

    @Test
    default void a_run_begins_with_the_record_that_it_carries_and_only_once() {
        RunId first = desk().fresh();
        RunId id = desk().id();
        var links = new NewRun.RunParentage(first, null, first, "[{\"step\":\"a\",\"at\":1,\"result\":1}]", 0);
        NewRun run = desk().linked(id, links, null, RunState.STARTED);
        StoreWrite.AdmitRun admit = desk().admit(run, List.of(desk().wish(UniqueKey.KeyKind.REPLAY, first.text(), 1)), true);
        for (int i = 0; i < 2; i++) {
            desk().apply(admit);
            assertEquals(
                    List.of(new StoreQueries.JournalChunk(0, links.carriedJournal())), desk().reads.journal(id));
        }
        assertEquals(java.util.Map.of(first, List.of(id)), desk().reads.lineages(List.of(first, desk().fresh())));
    }
}
