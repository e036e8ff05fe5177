package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanStoreWriteCommand.ItemOutcome;
import dev.semel.store.ReplayPlanStoreWriteCommand.PlanState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Plans of safe replays: made once, applied once, seen to by one worker at a time; and runs that begin with a record. */
interface ReplayRules {
    long LASTING = 10_000_000;

    TestStoreClient client();

    private <T> T change(ReplayPlanStoreWriteCommand<T> replay) {
        return client().change(new StoreWriteCommand.ReplayPlanCommand<>(replay));
    }

    private RunId laid(boolean approval) {
        RunId id = client().id();
        change(new ReplayPlanStoreWriteCommand.CreatePlan(id, client().ws, "ann", "{}", null, approval, null));
        return id;
    }

    private static ReplayPlanStoreWriteCommand.PlanItem item(RunId run, int worst) {
        return new ReplayPlanStoreWriteCommand.PlanItem(
                run, worst, worst == 0 ? 0 : 1 << (worst - 1), "{}", ItemOutcome.PLANNED, null, "");
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(RunId id) {
        ReplayPlanStoreWriteCommand.ReplayPlan plan = client().reads.plans().plan(client().ws, id);
        assertNotNull(plan);
        return plan;
    }

    private RunId planned(RunId... runs) {
        RunId id = laid(false);
        change(new ReplayPlanStoreWriteCommand.AddItems(
                id, java.util.Arrays.stream(runs).map(run -> item(run, 3)).toList()));
        change(new ReplayPlanStoreWriteCommand.MarkReady(id, "{\"runs\":1}"));
        return id;
    }

    private RunId applying(RunId... runs) {
        RunId id = planned(runs);
        change(new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{}", client().by("ann", "")));
        return id;
    }

    private List<ReplayPlanStoreWriteCommand.PlanItem> items(RunId plan, int actions, @Nullable ItemOutcome outcome) {
        return client().reads.plans().items(new ReplayPlanQueries.ItemFilter(plan, actions, outcome), null, 100);
    }

    @Test
    default void a_plan_is_created_once_and_gets_its_items_while_planning() {
        RunId id = laid(false);
        ReplayPlanStoreWriteCommand.ReplayPlan again = change(
                new ReplayPlanStoreWriteCommand.CreatePlan(id, client().ws, "bob", "{\"other\":1}", "1", true, null));
        assertEquals("ann", again.createdBy());
        assertEquals("{}", again.request());
        assertNull(again.input());
        assertEquals(PlanState.PLANNING, again.state());
        RunId one = client().id();
        RunId two = client().id();
        assertEquals(2, change(new ReplayPlanStoreWriteCommand.AddItems(id, List.of(item(two, 6), item(one, 1)))));
        assertEquals(
                1,
                change(new ReplayPlanStoreWriteCommand.AddItems(id, List.of(item(one, 3)))),
                "made again after a crash");
        ReplayPlanStoreWriteCommand.ReplayPlan ready =
                change(new ReplayPlanStoreWriteCommand.MarkReady(id, "{\"runs\":2}"));
        assertEquals(PlanState.PLANNED, ready.state());
        assertEquals("{\"runs\":2}", ready.summary());
        assertEquals(
                client().fixture.time() + ReplayPlanStoreWriteCommand.VALIDITY.toNanos() / 1_000, ready.validUntil());
        assertEquals(
                0,
                change(new ReplayPlanStoreWriteCommand.AddItems(id, List.of(item(client().id(), 1)))),
                "it is ready");
        assertEquals(
                List.of(one, two),
                items(id, 0, null).stream()
                        .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                        .toList());
        assertEquals(
                List.of(one),
                items(id, 4, null).stream()
                        .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                        .toList());
        assertEquals(
                List.of(two),
                client()
                        .reads
                        .plans()
                        .items(new ReplayPlanQueries.ItemFilter(id, 0, ItemOutcome.PLANNED), one, 100)
                        .stream()
                        .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                        .toList());
        assertEquals(List.of(), items(id, 0, ItemOutcome.APPLIED));
        assertNull(client().reads.plans().plan(client().ws + 1, id), "another workspace");
        assertEquals(
                List.of(id),
                client().reads.plans().page(client().ws, null, 10).stream()
                        .map(ReplayPlanStoreWriteCommand.ReplayPlan::id)
                        .toList());
        assertEquals(List.of(), client().reads.plans().page(client().ws, id, 10));
    }

    @Test
    default void a_plan_is_applied_once_and_only_while_it_is_valid() {
        RunId id = planned(client().id());
        StoreWriteCommand.ChangeAuthor by = client().by("bob", "");
        ReplayPlanStoreWriteCommand.ReplayPlan begun =
                change(new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{\"a\":1}", by));
        assertEquals(PlanState.APPLYING, begun.state());
        assertEquals("bob", begun.appliedBy());
        ReplayPlanStoreWriteCommand.ReplayPlan again = change(
                new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{\"b\":1}", client().by("eve", "")));
        assertEquals("{\"a\":1}", again.applyOptions());
        assertEquals(
                1,
                client().reads.audit(client().ws, null, 100).stream()
                        .filter(row -> row.action().equals("replay.apply"))
                        .count());
        RunId late = planned(client().id());
        client().fixture.advance(ReplayPlanStoreWriteCommand.VALIDITY);
        assertEquals(
                PlanState.PLANNED,
                change(new ReplayPlanStoreWriteCommand.StartApplying(client().ws, late, "{}", client().by("bob", "")))
                        .state());
    }

    @Test
    default void a_plan_that_needs_approval_is_approved_by_another_user() {
        RunId id = laid(true);
        change(new ReplayPlanStoreWriteCommand.MarkReady(id, "{}"));
        ReplayPlanStoreWriteCommand<ReplayPlanStoreWriteCommand.@Nullable ReplayPlan> own =
                new ReplayPlanStoreWriteCommand.ApprovePlan(client().ws, id, client().by("ann", ""));
        assertNull(plan(change(own).id()).approvedBy());
        assertEquals(
                PlanState.PLANNED,
                change(new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{}", client().by("ann", "")))
                        .state());
        assertEquals(
                "bob",
                change(new ReplayPlanStoreWriteCommand.ApprovePlan(client().ws, id, client().by("bob", "")))
                        .approvedBy());
        assertEquals(
                "bob",
                change(new ReplayPlanStoreWriteCommand.ApprovePlan(client().ws, id, client().by("eve", "")))
                        .approvedBy());
        assertEquals(
                PlanState.APPLYING,
                change(new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{}", client().by("ann", "")))
                        .state());
    }

    @Test
    default void a_plan_is_processed_by_one_worker_at_a_time() {
        RunId run = client().id();
        RunId id = applying(run);
        RunId one = client().id();
        RunId two = client().id();
        assertTrue(change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, one, LASTING)));
        assertFalse(change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, two, LASTING)));
        assertTrue(change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, one, LASTING)), "it goes on with it");
        client().fixture.advance(Duration.ofSeconds(10));
        assertTrue(change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, two, LASTING)));
        ReplayPlanStoreWriteCommand.PlanItem left = item(run, 3).withOutcome(ItemOutcome.SKIPPED, null, "why");
        assertFalse(change(new ReplayPlanStoreWriteCommand.RecordItems(id, one, List.of(left))));
        assertEquals(ItemOutcome.PLANNED, items(id, 0, null).getFirst().outcome());
        RunId made = client().fresh();
        ReplayPlanStoreWriteCommand.PlanItem applied = item(run, 3).withOutcome(ItemOutcome.APPLIED, made, "");
        assertFalse(change(new ReplayPlanStoreWriteCommand.RecordItems(id, one, List.of(applied))), "it comes late");
        assertEquals(made, items(id, 0, ItemOutcome.APPLIED).getFirst().newRun(), "but the run is there");
        assertTrue(change(new ReplayPlanStoreWriteCommand.RecordItems(id, two, List.of(left))));
        assertEquals(ItemOutcome.APPLIED, items(id, 0, null).getFirst().outcome(), "what is settled stays");
    }

    @Test
    default void a_worker_sees_free_and_own_plans_longest_waiting_first() {
        RunId busy = applying(client().id());
        RunId own = applying(client().id());
        RunId open = applying(client().id());
        RunId me = client().id();
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(busy, client().id(), LASTING));
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(own, me, LASTING));
        long now = client().fixture.time();
        assertEquals(List.of(open, own), free(me, now));
        assertEquals(List.of(open), free(client().id(), now));
        assertEquals(List.of(open, busy, own), free(me, now + LASTING), "its time is over");
        assertFalse(change(new ReplayPlanStoreWriteCommand.ReleasePlan(busy, me, "")), "it is another one's");
        assertTrue(change(new ReplayPlanStoreWriteCommand.ReleasePlan(own, me, "")));
        assertFalse(change(new ReplayPlanStoreWriteCommand.ReleasePlan(own, me, "")), "it was let go before");
        assertEquals(List.of(own, open), free(client().id(), now));
    }

    @Test
    default void the_wait_reason_of_a_plan_is_stored_until_someone_continues() {
        RunId id = applying(client().id());
        RunId one = client().id();
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, one, LASTING));
        assertTrue(change(new ReplayPlanStoreWriteCommand.ReleasePlan(id, one, "It waits.")));
        assertEquals("It waits.", plan(id).note());
        RunId two = client().id();
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, two, LASTING));
        assertTrue(change(new ReplayPlanStoreWriteCommand.RecordItems(id, two, List.of())));
        assertEquals("It waits.", plan(id).note(), "nothing was done");
        ReplayPlanStoreWriteCommand.PlanItem item = items(id, 0, null).getFirst();
        assertTrue(change(new ReplayPlanStoreWriteCommand.RecordItems(
                id, two, List.of(item.withOutcome(ItemOutcome.REJECTED, null, "no")))));
        assertEquals("", plan(id).note());
    }

    private List<RunId> free(RunId worker, long now) {
        return client().reads.plans().claimable(worker, now, 10).stream()
                .map(ReplayPlanStoreWriteCommand.ReplayPlan::id)
                .toList();
    }

    @Test
    default void an_approved_plan_is_applied_only_with_its_approved_options() {
        RunId id = client().id();
        change(new ReplayPlanStoreWriteCommand.CreatePlan(id, client().ws, "ann", "{}", null, true, "{\"a\":1}"));
        change(new ReplayPlanStoreWriteCommand.MarkReady(id, "{}"));
        change(new ReplayPlanStoreWriteCommand.ApprovePlan(client().ws, id, client().by("bob", "")));
        ReplayPlanStoreWriteCommand.ReplayPlan other = change(
                new ReplayPlanStoreWriteCommand.StartApplying(client().ws, id, "{\"b\":1}", client().by("ann", "")));
        assertEquals(PlanState.PLANNED, other.state());
        assertEquals("{\"a\":1}", other.applyOptions());
        assertEquals(
                PlanState.APPLYING,
                change(new ReplayPlanStoreWriteCommand.StartApplying(
                                client().ws, id, "{\"a\":1}", client().by("ann", "")))
                        .state());
        RunId free = client().id();
        change(new ReplayPlanStoreWriteCommand.CreatePlan(free, client().ws, "ann", "{}", null, false, "{\"a\":1}"));
        change(new ReplayPlanStoreWriteCommand.MarkReady(free, "{}"));
        assertEquals(
                "{\"b\":1}",
                change(new ReplayPlanStoreWriteCommand.StartApplying(
                                client().ws, free, "{\"b\":1}", client().by("ann", "")))
                        .applyOptions(),
                "nobody need approve this one");
    }

    @Test
    default void items_no_longer_selected_are_removed_while_planning() {
        RunId id = laid(false);
        RunId one = client().id();
        RunId two = client().id();
        change(new ReplayPlanStoreWriteCommand.AddItems(id, List.of(item(one, 3), item(two, 3))));
        assertEquals(1, change(new ReplayPlanStoreWriteCommand.RemoveItems(id, List.of(one))));
        assertEquals(
                List.of(two),
                items(id, 0, null).stream()
                        .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                        .toList());
        change(new ReplayPlanStoreWriteCommand.MarkReady(id, "{}"));
        assertEquals(0, change(new ReplayPlanStoreWriteCommand.RemoveItems(id, List.of(two))), "it is ready");
        assertEquals(1, items(id, 0, null).size());
    }

    @Test
    default void of_many_runs_the_ended_ones_are_returned() {
        RunId open = client().fresh();
        List<RunId> all = new java.util.ArrayList<>(List.of(open, client().id()));
        for (int i = 0; i < 27; i++) {
            RunId run = client().fresh();
            client().apply(i == 0 ? client().failed(run) : client().end(run));
            all.add(run);
        }
        List<ReplayPlanQueries.EndedRun> ended = client().reads.plans().endedRuns(all);
        assertEquals(27, ended.size());
        assertEquals(
                List.of(all.get(2)),
                ended.stream()
                        .filter(one -> one.state() == RunState.FAILED)
                        .map(ReplayPlanQueries.EndedRun::run)
                        .toList());
        assertTrue(ended.stream().noneMatch(one -> one.run().equals(open)));
        assertEquals(List.of(), client().reads.plans().endedRuns(List.of()));
    }

    @Test
    default void progress_is_read_from_the_new_runs() {
        RunId one = client().id();
        RunId two = client().id();
        RunId three = client().id();
        RunId id = applying(one, two, three);
        RunId worker = client().id();
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, worker, LASTING));
        RunId ended = client().fresh();
        RunId running = client().fresh();
        change(new ReplayPlanStoreWriteCommand.RecordItems(
                id,
                worker,
                List.of(
                        item(one, 3).withOutcome(ItemOutcome.APPLIED, ended, ""),
                        item(two, 3).withOutcome(ItemOutcome.APPLIED, running, ""))));
        client().apply(client().end(ended));
        assertEquals(
                List.of(
                        new ReplayPlanQueries.ItemCount(ItemOutcome.PLANNED, null, 1),
                        new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.STARTED, 1),
                        new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                client().reads.plans().progress(id));
    }

    @Test
    default void a_finished_or_stopped_plan_cannot_be_applied() {
        RunId id = applying(client().id());
        assertEquals(id, assertThere(client().reads.plans().applying()).id());
        RunId worker = client().id();
        change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, worker, LASTING));
        assertTrue(change(new ReplayPlanStoreWriteCommand.FinishPlan(id, PlanState.DONE, "")));
        assertFalse(change(new ReplayPlanStoreWriteCommand.FinishPlan(id, PlanState.STOPPED, "too late")));
        assertEquals(PlanState.DONE, plan(id).state());
        assertNull(plan(id).takenBy());
        assertNull(client().reads.plans().applying());
        assertFalse(change(new ReplayPlanStoreWriteCommand.ClaimPlan(id, worker, LASTING)));
        RunId other = applying(client().id());
        ReplayPlanStoreWriteCommand.ReplayPlan stopped =
                change(new ReplayPlanStoreWriteCommand.StopPlan(client().ws, other, client().by("ann", "enough")));
        assertEquals(PlanState.STOPPED, stopped.state());
        assertEquals("enough", stopped.note());
        assertEquals(
                PlanState.DONE,
                change(new ReplayPlanStoreWriteCommand.StopPlan(client().ws, id, client().by("ann", "")))
                        .state());
    }

    private static ReplayPlanStoreWriteCommand.ReplayPlan assertThere(
            ReplayPlanStoreWriteCommand.@Nullable ReplayPlan plan) {
        assertNotNull(plan);
        return plan;
    }

    @Test
    default void old_plans_are_deleted_in_small_parts_and_applying_ones_stay() {
        RunId id = planned(client().id(), client().id(), client().id());
        RunId busy = applying(client().id());
        long later = client().fixture.time() + 1;
        assertTrue(client().reads.plans().hasPlansBefore(later));
        assertFalse(client().reads.plans().hasPlansBefore(later - 1));
        assertEquals(0, change(new ReplayPlanStoreWriteCommand.DeleteOldPlans(later - 1, 100)));
        assertEquals(2, change(new ReplayPlanStoreWriteCommand.DeleteOldPlans(later, 2)));
        assertEquals(1, change(new ReplayPlanStoreWriteCommand.DeleteOldPlans(later, 2)));
        assertEquals(1, change(new ReplayPlanStoreWriteCommand.DeleteOldPlans(later, 2)), "the plan itself");
        assertEquals(0, change(new ReplayPlanStoreWriteCommand.DeleteOldPlans(later, 2)));
        assertNull(client().reads.plans().plan(client().ws, id));
        assertEquals(PlanState.APPLYING, plan(busy).state());
        assertFalse(client().reads.plans().hasPlansBefore(later));
    }

    @Test
    default void a_run_starts_with_its_carried_journal_only_once() {
        RunId first = client().fresh();
        RunId id = client().id();
        var links = new NewRun.RunParentage(first, null, first, "[{\"step\":\"a\",\"at\":1,\"result\":1}]", 0);
        NewRun run = client().linked(id, links, null, RunState.STARTED);
        StoreWrite.AdmitRun admit =
                client().admit(run, List.of(client().claim(RunDeduplicationKey.KeyKind.REPLAY, first.text(), 1)), true);
        for (int i = 0; i < 2; i++) {
            client().apply(admit);
            assertEquals(
                    List.of(new StoreQueries.JournalChunk(0, links.carriedJournal())),
                    client().reads.journal(id));
        }
        assertEquals(java.util.Map.of(first, List.of(id)), client().reads.lineages(List.of(first, client().fresh())));
    }
}
