package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run that waits belongs to nobody until it is due; each time it is taken up it is another execution. */
interface SuspensionRules {
    TestStoreClient desk();

    private RunExecution driver() {
        return new RunExecution(desk().fresh(), 1);
    }

    @Test
    default void a_suspended_run_is_resumed_when_it_is_due_and_not_before() {
        RunExecution by = driver();
        var rest = new StoreWrite.Suspension(StoreFixture.START + 100, "{\"for\":\"time\"}", 0, false, false);
        assertEquals(
                OwnerWriteResult.RECORDED,
                desk().apply(new StoreWrite.AppendJournal(by, 0, "[\"sleep\"]", RunState.WAITING, List.of(), rest)));
        assertEquals(List.of("[\"sleep\"]"), desk().journal(by.run()));
        assertEquals(RunState.WAITING, desk().runOf(by.run()).state());
        assertEquals(
                new DatabaseRows.RunProgress(1, 0, false, StoreFixture.START + 100, "{\"for\":\"time\"}"),
                desk().work(by.run()));
        assertEquals(StoreFixture.START + 100, desk().reads.nextDue());
        desk().fixture.setTime(StoreFixture.START + 99);
        assertEquals(List.of(), desk().claim());
        desk().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(new RunExecution(by.run(), 2)), desk().claim());
        assertEquals(RunState.RUNNING, desk().runOf(by.run()).state());
        assertNull(desk().work(by.run()).waitingFor());
    }

    @Test
    default void a_suspension_applied_again_changes_nothing_and_no_longer_owns_the_run() {
        RunExecution by = driver();
        StoreWrite.AppendJournal rest = TestStoreClient.rest(by, StoreFixture.START + 100, 0);
        desk().apply(rest);
        DatabaseRows.RunRow resting = desk().runOf(by.run());
        assertEquals(OwnerWriteResult.FENCED, desk().apply(rest));
        assertEquals(resting, desk().runOf(by.run()));
        desk().fixture.setTime(StoreFixture.START + 100);
        RunExecution next = desk().claim().getFirst();
        assertEquals(OwnerWriteResult.FENCED, desk().apply(rest), "nor when somebody else drives it");
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(TestStoreClient.ops(next)));
    }

    @Test
    default void runs_held_for_their_code_are_never_due_and_can_be_found() {
        List<RunId> held = new java.util.ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RunExecution by = driver();
            desk().apply(TestStoreClient.rest(by, StoreWrite.Suspension.HELD, 0));
            held.add(by.run());
        }
        desk().apply(TestStoreClient.rest(driver(), StoreWrite.Suspension.NEVER, 0));
        assertEquals(StoreWrite.Suspension.NEVER, desk().reads.nextDue());
        assertEquals(List.of(), desk().claim());
        List<StoreQueries.HeldRun> found = desk().reads.heldRuns(null, 2);
        assertEquals(
                held.subList(0, 2),
                found.stream().map(StoreQueries.HeldRun::run).toList());
        assertEquals(
                desk().runOf(held.getFirst()).workflowId(), found.getFirst().workflowId());
        assertEquals(
                held.subList(2, 3),
                desk().reads.heldRuns(held.get(1), 2).stream()
                        .map(StoreQueries.HeldRun::run)
                        .toList());
        desk().change(new StoreWriteCommand.WakeRuns(held.subList(0, 1)));
        assertEquals(2, desk().reads.heldRuns(null, 9).size());
        assertEquals(List.of(new RunExecution(held.getFirst(), 2)), desk().claim());
    }

    @Test
    default void a_run_that_waits_for_a_wake_up_only_is_never_due() {
        RunExecution by = driver();
        desk().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertEquals(StoreWrite.Suspension.NEVER, desk().reads.nextDue());
        desk().fixture.advance(Duration.ofDays(4000));
        assertEquals(List.of(), desk().claim());
        assertEquals(1, desk().change(new StoreWriteCommand.WakeRuns(List.of(by.run(), desk().id()))));
        assertEquals(List.of(new RunExecution(by.run(), 2)), desk().claim());
    }

    @Test
    default void a_message_during_a_suspension_is_not_missed() {
        RunExecution by = driver();
        assertEquals(1, desk().change(new StoreWriteCommand.WakeRuns(List.of(by.run()))), "somebody drives it");
        desk().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        RunExecution next = desk().claim().getFirst();
        assertEquals(new RunExecution(by.run(), 2), next);
        desk().apply(TestStoreClient.rest(next, StoreWrite.Suspension.NEVER, 0));
        assertEquals(List.of(), desk().claim(), "it has looked, and rests");
    }

    @Test
    default void a_run_whose_doubt_was_decided_during_the_suspension_is_not_shown_in_doubt() {
        RunExecution by = driver();
        desk().change(new StoreWriteCommand.WakeRuns(List.of(by.run())));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        desk().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(RunState.RUNNING, desk().runOf(by.run()).state());
        assertNull(desk().work(by.run()).waitingFor());
        RunExecution next = desk().claim().getFirst();
        desk().apply(new StoreWrite.AppendJournal(next, 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(RunState.IN_DOUBT, desk().runOf(by.run()).state(), "nobody woke it since");
    }

    @Test
    default void nothing_is_written_after_a_suspension_or_an_end_in_one_batch() {
        RunExecution resting = driver();
        RunExecution ending = driver();
        List<Object> outcomes = desk().decided(
                        desk().append(resting.run(), 0, "[1]"),
                        TestStoreClient.rest(resting, StoreFixture.START, 0),
                        desk().append(resting.run(), 1, "[2]"),
                        desk().end(resting),
                        desk().end(ending),
                        desk().append(ending.run(), 0, "[3]"));
        assertEquals(
                List.of(
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.FENCED),
                outcomes);
        assertEquals(List.of("[1]"), desk().journal(resting.run()));
        assertEquals(List.of(), desk().journal(ending.run()));
        assertEquals(RunState.WAITING, desk().runOf(resting.run()).state());
    }

    @Test
    default void an_outdated_execution_writes_nothing() {
        RunExecution old = driver();
        assertTrue(desk().change(new StoreWriteCommand.ReturnRun(old)));
        assertFalse(desk().change(new StoreWriteCommand.ReturnRun(old)), "it is given back");
        RunExecution now = desk().claim().getFirst();
        assertEquals(2, now.claim());
        assertEquals(
                List.of(
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED),
                desk().applyAll(
                                desk().append(old.run(), 0, "[\"old\"]"),
                                TestStoreClient.rest(old, StoreFixture.START, 0),
                                desk().end(old),
                                new StoreWrite.AppendJournal(now, 0, "[\"now\"]", RunState.RUNNING, List.of(), null)));
        assertEquals(List.of("[\"now\"]"), desk().journal(old.run()));
        assertFalse(desk().change(new StoreWriteCommand.ReturnRun(old)));
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(desk().end(now)));
    }

    @Test
    default void an_append_without_entries_leaves_no_chunk() {
        RunExecution by = driver();
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(TestStoreClient.ops(by)));
        assertEquals(List.of(), desk().journal(by.run()));
        assertEquals(RunState.RUNNING, desk().runOf(by.run()).state());
    }

    @Test
    default void the_owner_learns_that_the_run_is_to_be_cancelled() {
        RunExecution by = driver();
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(TestStoreClient.ops(by)));
        var cancel = new StoreWriteCommand.CancelRun(desk().ws, by.run(), "op", "wrong one");
        assertTrue(desk().change(cancel));
        assertTrue(desk().change(cancel), "asked twice it is still asked for");
        assertEquals(new OwnerWriteResult(true, true, List.of()), desk().apply(TestStoreClient.ops(by)));
        assertEquals(
                new OwnerWriteResult(true, true, List.of()),
                desk().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0)),
                "a rest does not put it off");
        RunExecution next = desk().claim().getFirst();
        desk().apply(desk().end(next));
        assertFalse(desk().change(cancel), "it has ended");
    }

    @Test
    default void a_waiting_run_is_due_when_it_is_to_be_cancelled() {
        RunExecution by = driver();
        desk().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertTrue(desk().change(new StoreWriteCommand.CancelRun(desk().ws, by.run(), "op", "why")));
        assertEquals(List.of(new RunExecution(by.run(), 2)), desk().claim());
        assertTrue(desk().work(by.run()).cancelRequested());
    }

    @Test
    default void a_run_of_another_workspace_is_not_cancelled() {
        RunExecution by = driver();
        int other = desk().workspace("two").ws();
        assertFalse(desk().change(new StoreWriteCommand.CancelRun(other, by.run(), "op", "why")));
        assertFalse(desk().change(new StoreWriteCommand.CancelRun(desk().ws, desk().id(), "op", "why")));
        assertFalse(desk().work(by.run()).cancelRequested());
    }

    @Test
    default void a_crash_of_a_worker_is_counted_until_the_run_makes_progress() {
        RunExecution by = driver();
        desk().apply(TestStoreClient.ops(by));
        RunExecution next = takenOver(78, by);
        assertEquals(1, desk().work(by.run()).crashCount());
        next = takenOver(79, next);
        assertEquals(2, desk().work(by.run()).crashCount());
        assertEquals(
                OwnerWriteResult.RECORDED, desk().applyAs(new CommitBatch.LeaseSlot(79, 0), TestStoreClient.ops(next)));
        assertEquals(2, desk().work(by.run()).crashCount(), "to ask is not to get on");
        var step = new StoreWrite.AppendJournal(next, 0, "[1]", RunState.RUNNING, List.of(), null);
        assertEquals(OwnerWriteResult.RECORDED, desk().applyAs(new CommitBatch.LeaseSlot(79, 0), step));
        assertEquals(0, desk().work(by.run()).crashCount());
    }

    @Test
    default void an_intent_is_no_progress_and_a_suspect_run_stays_one_until_continued() {
        RunExecution by = driver();
        RunExecution next = takenOver(78, by);
        CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(78, 0);
        desk().applyAs(hold, new StoreWrite.AppendJournal(next, 0, "", RunState.RUNNING, List.of(), null));
        assertEquals(1, desk().work(by.run()).crashCount());
        var suspect = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"poison\"}", 0, false, true);
        desk().applyAs(hold, new StoreWrite.AppendJournal(next, 0, "[1]", RunState.HELD, List.of(), suspect));
        assertEquals(1, desk().work(by.run()).crashCount());
        desk().applyAs(hold, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.WakeRuns(List.of(by.run()))));
        assertEquals(
                List.of(), desk().applyAs(hold, new StoreWrite.ClaimRuns(5, List.of(), 0)), "it is left to a trial");
        assertEquals(List.of(by.run()), runsIn(RunState.HELD));
        assertEquals(List.of(), runsIn(RunState.WAITING));
        int other = desk().ws + 1;
        assertFalse(desk().applyAs(
                        hold,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.ContinueHeldRun(other, by.run(), "op", "why"))));
        assertTrue(desk().applyAs(
                        hold,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.ContinueHeldRun(desk().ws, by.run(), "op", "why"))));
        assertEquals(0, desk().work(by.run()).crashCount());
        RunExecution last = new RunExecution(by.run(), next.claim() + 1);
        assertEquals(List.of(last), desk().applyAs(hold, new StoreWrite.ClaimRuns(5, List.of(), 0)));
        assertFalse(
                desk().applyAs(
                                hold,
                                new StoreWrite.ExecuteCommand<>(
                                        new StoreWriteCommand.ContinueHeldRun(desk().ws, by.run(), "op", "why"))),
                "it is not held");
    }

    private List<RunId> runsIn(RunState state) {
        var filter = new StoreQueries.RunFilter(desk().ws, null, state, null, false, 0, null, 10, null);
        return desk().reads.runs(filter).stream().map(DatabaseRows.RunRow::id).toList();
    }

    @Test
    default void a_cancel_known_to_the_execution_does_not_wake_it_again() {
        RunExecution knows = driver();
        RunExecution learns = driver();
        for (RunExecution by : List.of(knows, learns)) {
            assertTrue(desk().change(new StoreWriteCommand.CancelRun(desk().ws, by.run(), "op", "why")));
            var rest = new StoreWrite.Suspension(
                    StoreWrite.Suspension.NEVER, "{\"for\":\"sleep\"}", 0, by.equals(knows), false);
            desk().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest));
        }
        assertEquals(List.of(new RunExecution(learns.run(), learns.claim() + 1)), desk().claim());
    }

    @Test
    default void a_cancel_does_not_revoke_an_earlier_wake_up() {
        RunExecution by = driver();
        assertTrue(desk().change(new StoreWriteCommand.CancelRun(desk().ws, by.run(), "op", "why")));
        desk().change(new StoreWriteCommand.WakeRuns(List.of(by.run())));
        assertTrue(desk().change(new StoreWriteCommand.CancelRun(desk().ws, by.run(), "op", "asked twice")));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, true, false);
        desk().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest));
        assertEquals(List.of(new RunExecution(by.run(), 2)), desk().claim());
    }

    /** The worker is gone without a word; the next one takes its run up. */
    private RunExecution takenOver(long lease, RunExecution before) {
        desk().fixture.advance(Duration.ofSeconds(11));
        desk().leases.start(lease, "desk", desk().slots(), TestStoreClient.TTL);
        desk().leases.takeOverExpired(0);
        assertEquals(
                List.of(new RunExecution(before.run(), before.claim() + 1)),
                desk().applyAs(new CommitBatch.LeaseSlot(lease, 0), new StoreWrite.ClaimRuns(5)));
        return new RunExecution(before.run(), before.claim() + 1);
    }

    @Test
    default void a_clean_stop_counts_as_no_crash() {
        RunExecution by = driver();
        desk().leases.end(TestStoreClient.LEASE);
        desk().leases.start(78, "desk", desk().slots(), TestStoreClient.TTL);
        assertEquals(0, desk().work(by.run()).crashCount());
    }

    @Test
    default void runs_held_for_their_code_are_due_when_the_code_may_fit() {
        RunExecution held = driver();
        RunExecution waiting = driver();
        var code = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"code\"}", 0, false, false);
        desk().apply(new StoreWrite.AppendJournal(held, 0, "", RunState.HELD, List.of(), code));
        desk().apply(TestStoreClient.rest(waiting, StoreWrite.Suspension.NEVER, 0));
        assertEquals(0, desk().change(new StoreWriteCommand.WakeHeldRuns("wf_other")));
        assertEquals(1, desk().change(new StoreWriteCommand.WakeHeldRuns(TestStoreClient.WORKFLOW)));
        assertEquals(List.of(new RunExecution(held.run(), 2)), desk().claim());
    }

    @Test
    default void runs_that_a_worker_cannot_execute_do_not_block_others() {
        for (int i = 0; i < 5; i++) {
            desk().apply(desk().admit(desk().run(desk().id()), List.of(), false));
        }
        desk().publish(desk().ws, "two", "wf_two");
        RunId mine = unowned(desk().ws, "wf_two");
        assertEquals(
                List.of(new RunExecution(mine, 1)),
                desk().apply(new StoreWrite.ClaimRuns(
                        2, List.of("wf_none", TestStoreClient.WORKFLOW), Integer.MAX_VALUE)));
        assertEquals(
                List.of(),
                desk().apply(new StoreWrite.ClaimRuns(
                        2, List.of("wf_two", TestStoreClient.WORKFLOW), Integer.MAX_VALUE)));
        assertEquals(
                5,
                desk().apply(new StoreWrite.ClaimRuns(9, List.of("wf_two"), Integer.MAX_VALUE))
                        .size());
    }

    /** A run that nobody drives. */
    private RunId unowned(int workspace, String workflowId) {
        RunId id = desk().id();
        NewRun run = desk().run(id);
        desk().apply(desk().admit(
                        new NewRun(
                                id,
                                workspace,
                                null,
                                workflowId,
                                1,
                                RunState.STARTED,
                                run.origin(),
                                run.input(),
                                run.fields(),
                                NewRun.RunParentage.NONE,
                                null),
                        List.of(),
                        false));
        return id;
    }

    @Test
    default void many_runs_of_one_workflow_or_workspace_do_not_starve_others() {
        int other = desk().ws + 1;
        desk().publish(desk().ws, "two", "wf_two");
        desk().publish(other, "three", "wf_three");
        for (int i = 0; i < 20; i++) {
            unowned(desk().ws, TestStoreClient.WORKFLOW);
        }
        RunId two = unowned(desk().ws, "wf_two");
        RunId three = unowned(other, "wf_three");
        List<RunId> first = TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(6)));
        assertTrue(first.containsAll(List.of(two, three)), "each of the two others has its run");
        assertEquals(6, first.size(), "and what they leave over is used");
        assertEquals(16, desk().apply(new StoreWrite.ClaimRuns(100)).size());
    }
}
