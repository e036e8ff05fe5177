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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A run that waits belongs to nobody until it is due; each time it is taken up it is another execution. */
interface SuspensionRules {
    TestStoreClient client();

    private RunExecution driver() {
        return new RunExecution(client().fresh(), 1);
    }

    @Test
    default void a_suspended_run_is_resumed_when_it_is_due_and_not_before() {
        RunExecution by = driver();
        var rest = new StoreWrite.Suspension(StoreFixture.START + 100, "{\"for\":\"time\"}", 0, false, false);
        assertEquals(
                OwnerWriteResult.RECORDED,
                client().apply(new StoreWrite.AppendJournal(by, 0, "[\"sleep\"]", RunState.WAITING, List.of(), rest)));
        assertEquals(List.of("[\"sleep\"]"), client().journal(by.run()));
        assertEquals(RunState.WAITING, client().runOf(by.run()).state());
        assertEquals(
                new DatabaseRows.RunProgress(1, 0, false, StoreFixture.START + 100, "{\"for\":\"time\"}"),
                client().work(by.run()));
        assertEquals(StoreFixture.START + 100, client().reads.nextDue());
        client().fixture.setTime(StoreFixture.START + 99);
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
        assertEquals(RunState.RUNNING, client().runOf(by.run()).state());
        assertNull(client().work(by.run()).waitingFor());
    }

    @Test
    default void a_suspension_applied_again_changes_nothing_and_no_longer_owns_the_run() {
        RunExecution by = driver();
        StoreWrite.AppendJournal rest = TestStoreClient.rest(by, StoreFixture.START + 100, 0);
        client().apply(rest);
        DatabaseRows.RunRow resting = client().runOf(by.run());
        assertEquals(OwnerWriteResult.FENCED, client().apply(rest));
        assertEquals(resting, client().runOf(by.run()));
        client().fixture.setTime(StoreFixture.START + 100);
        RunExecution next = client().claim().getFirst();
        assertEquals(OwnerWriteResult.FENCED, client().apply(rest), "nor when somebody else drives it");
        assertEquals(OwnerWriteResult.RECORDED, client().apply(TestStoreClient.ops(next)));
    }

    @Test
    default void runs_held_for_their_code_are_never_due_and_can_be_found() {
        List<RunId> held = new java.util.ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RunExecution by = driver();
            client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.HELD, 0));
            held.add(by.run());
        }
        client().apply(TestStoreClient.rest(driver(), StoreWrite.Suspension.NEVER, 0));
        assertEquals(StoreWrite.Suspension.NEVER, client().reads.nextDue());
        assertEquals(List.of(), client().claim());
        List<StoreQueries.HeldRun> found = client().reads.heldRuns(null, 2);
        assertEquals(
                held.subList(0, 2),
                found.stream().map(StoreQueries.HeldRun::run).toList());
        assertEquals(
                client().runOf(held.getFirst()).workflowId(), found.getFirst().workflowId());
        assertEquals(
                held.subList(2, 3),
                client().reads.heldRuns(held.get(1), 2).stream()
                        .map(StoreQueries.HeldRun::run)
                        .toList());
        client().change(new StoreWriteCommand.WakeRuns(held.subList(0, 1)));
        assertEquals(2, client().reads.heldRuns(null, 9).size());
        assertEquals(List.of(new RunExecution(held.getFirst(), 2)), client().claim());
    }

    @Test
    default void a_run_that_waits_for_a_wake_up_only_is_never_due() {
        RunExecution by = driver();
        client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertEquals(StoreWrite.Suspension.NEVER, client().reads.nextDue());
        client().fixture.advance(Duration.ofDays(4000));
        assertEquals(List.of(), client().claim());
        assertEquals(1, client().change(new StoreWriteCommand.WakeRuns(List.of(by.run(), client().id()))));
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
    }

    @Test
    default void a_message_during_a_suspension_is_not_missed() {
        RunExecution by = driver();
        assertEquals(1, client().change(new StoreWriteCommand.WakeRuns(List.of(by.run()))), "somebody drives it");
        client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        RunExecution next = client().claim().getFirst();
        assertEquals(new RunExecution(by.run(), 2), next);
        client().apply(TestStoreClient.rest(next, StoreWrite.Suspension.NEVER, 0));
        assertEquals(List.of(), client().claim(), "it has looked, and rests");
    }

    @Test
    default void a_run_whose_doubt_was_decided_during_the_suspension_is_not_shown_in_doubt() {
        RunExecution by = driver();
        client().change(new StoreWriteCommand.WakeRuns(List.of(by.run())));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        client().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(RunState.RUNNING, client().runOf(by.run()).state());
        assertNull(client().work(by.run()).waitingFor());
        RunExecution next = client().claim().getFirst();
        client().apply(new StoreWrite.AppendJournal(next, 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(RunState.IN_DOUBT, client().runOf(by.run()).state(), "nobody woke it since");
    }

    @Test
    default void nothing_is_written_after_a_suspension_or_an_end_in_one_batch() {
        RunExecution resting = driver();
        RunExecution ending = driver();
        List<Object> outcomes = client().decided(
                        client().append(resting.run(), 0, "[1]"),
                        TestStoreClient.rest(resting, StoreFixture.START, 0),
                        client().append(resting.run(), 1, "[2]"),
                        client().end(resting),
                        client().end(ending),
                        client().append(ending.run(), 0, "[3]"));
        assertEquals(
                List.of(
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED,
                        OwnerWriteResult.FENCED),
                outcomes);
        assertEquals(List.of("[1]"), client().journal(resting.run()));
        assertEquals(List.of(), client().journal(ending.run()));
        assertEquals(RunState.WAITING, client().runOf(resting.run()).state());
    }

    @Test
    default void an_outdated_execution_writes_nothing() {
        RunExecution old = driver();
        assertTrue(client().change(new StoreWriteCommand.ReturnRun(old)));
        assertFalse(client().change(new StoreWriteCommand.ReturnRun(old)), "it is given back");
        RunExecution now = client().claim().getFirst();
        assertEquals(2, now.claim());
        assertEquals(
                List.of(
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED),
                client().applyAll(
                                client().append(old.run(), 0, "[\"old\"]"),
                                TestStoreClient.rest(old, StoreFixture.START, 0),
                                client().end(old),
                                new StoreWrite.AppendJournal(now, 0, "[\"now\"]", RunState.RUNNING, List.of(), null)));
        assertEquals(List.of("[\"now\"]"), client().journal(old.run()));
        assertFalse(client().change(new StoreWriteCommand.ReturnRun(old)));
        assertEquals(OwnerWriteResult.RECORDED, client().apply(client().end(now)));
    }

    @Test
    default void an_append_without_entries_leaves_no_chunk() {
        RunExecution by = driver();
        assertEquals(OwnerWriteResult.RECORDED, client().apply(TestStoreClient.ops(by)));
        assertEquals(List.of(), client().journal(by.run()));
        assertEquals(RunState.RUNNING, client().runOf(by.run()).state());
    }

    @Test
    default void the_owner_learns_that_the_run_is_to_be_cancelled() {
        RunExecution by = driver();
        assertEquals(OwnerWriteResult.RECORDED, client().apply(TestStoreClient.ops(by)));
        var cancel = new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "wrong one");
        assertTrue(client().change(cancel));
        assertTrue(client().change(cancel), "asked twice it is still asked for");
        assertEquals(new OwnerWriteResult(true, true, List.of()), client().apply(TestStoreClient.ops(by)));
        assertEquals(
                new OwnerWriteResult(true, true, List.of()),
                client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0)),
                "a rest does not put it off");
        RunExecution next = client().claim().getFirst();
        client().apply(client().end(next));
        assertFalse(client().change(cancel), "it has ended");
    }

    @Test
    default void a_waiting_run_is_due_when_it_is_to_be_cancelled() {
        RunExecution by = driver();
        client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertTrue(client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "why")));
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
        assertTrue(client().work(by.run()).cancelRequested());
    }

    @Test
    default void a_run_of_another_workspace_is_not_cancelled() {
        RunExecution by = driver();
        int other = client().workspace("two").ws();
        assertFalse(client().change(new StoreWriteCommand.CancelRun(other, by.run(), "op", "why")));
        assertFalse(client().change(new StoreWriteCommand.CancelRun(client().ws, client().id(), "op", "why")));
        assertFalse(client().work(by.run()).cancelRequested());
    }

    @Test
    default void a_claim_leaves_runs_that_do_not_fit_into_memory_and_those_behind_them() {
        List<RunId> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            NewRun run = client().run(client().id());
            runs.add(run.id());
            client().apply(client().admit(
                            i == 2 ? withInput(run, "\"" + "x".repeat(9_998) + "\"") : run, List.of(), false));
        }
        long small = StoreWrite.ClaimMemory.UNLIMITED.estimate(
                client().run(client().id()).input().length(), 0);
        assertEquals(
                Set.copyOf(runs.subList(0, 2)), claimedWithin(new StoreWrite.ClaimMemory(4 * small, Long.MAX_VALUE)));
        assertEquals(
                Set.of(),
                claimedWithin(new StoreWrite.ClaimMemory(4 * small, Long.MAX_VALUE)),
                "the others wait behind it");
        assertEquals(
                Set.copyOf(runs.subList(2, 4)),
                claimedWithin(new StoreWrite.ClaimMemory(3 * small, 2 * small)),
                "the large one counts as two");
    }

    private Set<RunId> claimedWithin(StoreWrite.ClaimMemory memory) {
        return Set.copyOf(TestStoreClient.runs(
                client().apply(new StoreWrite.ClaimRuns(5, List.of(), Integer.MAX_VALUE, memory))));
    }

    private static NewRun withInput(NewRun run, String input) {
        return new NewRun(
                run.id(),
                run.workspace(),
                run.chosenId(),
                run.workflowId(),
                run.version(),
                run.state(),
                run.origin(),
                input,
                run.fields(),
                run.links(),
                run.startConditions());
    }

    @Test
    default void the_journal_counts_for_the_memory_of_a_claim() {
        RunExecution large = driver();
        client().apply(new StoreWrite.AppendJournal(
                large, 0, "[\"" + "x".repeat(9_996) + "\"]", RunState.RUNNING, List.of(), null));
        client().fixture.advance(Duration.ofSeconds(11));
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        client().leases.takeOverExpired(0);
        long bytes = StoreWrite.ClaimMemory.UNLIMITED.estimate(
                client().run(client().id()).input().length(), 10_000);
        CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(78, 0);
        StoreWrite.ClaimMemory little = new StoreWrite.ClaimMemory(bytes - 1, Long.MAX_VALUE);
        assertEquals(
                List.of(), client().applyAs(hold, new StoreWrite.ClaimRuns(1, List.of(), Integer.MAX_VALUE, little)));
        StoreWrite.ClaimMemory enough = new StoreWrite.ClaimMemory(bytes, Long.MAX_VALUE);
        assertEquals(
                List.of(large.run()),
                TestStoreClient.runs(
                        client().applyAs(hold, new StoreWrite.ClaimRuns(1, List.of(), Integer.MAX_VALUE, enough))));
    }

    @Test
    default void a_crash_of_a_worker_is_counted_until_the_run_makes_progress() {
        RunExecution by = driver();
        client().apply(TestStoreClient.ops(by));
        RunExecution next = takenOver(78, by);
        assertEquals(1, client().work(by.run()).crashCount());
        next = takenOver(79, next);
        assertEquals(2, client().work(by.run()).crashCount());
        assertEquals(
                OwnerWriteResult.RECORDED,
                client().applyAs(new CommitBatch.LeaseSlot(79, 0), TestStoreClient.ops(next)));
        assertEquals(2, client().work(by.run()).crashCount(), "to ask is not to get on");
        var step = new StoreWrite.AppendJournal(next, 0, "[1]", RunState.RUNNING, List.of(), null);
        assertEquals(OwnerWriteResult.RECORDED, client().applyAs(new CommitBatch.LeaseSlot(79, 0), step));
        assertEquals(0, client().work(by.run()).crashCount());
    }

    @Test
    default void only_a_death_in_which_a_run_was_alone_on_trial_counts_as_such() {
        List<RunExecution> all = List.of(driver(), driver());
        for (int lease = 78; lease < 78 + 3; lease++) {
            all = takenOver(lease, all);
        }
        for (RunExecution one : all) {
            assertEquals(
                    new CrashCount(3), new CrashCount(client().work(one.run()).crashCount()));
        }
        all = takenOver(81, all);
        RunExecution suspect = all.getFirst();
        RunExecution innocent = all.getLast();
        assertEquals(0, new CrashCount(client().work(suspect.run()).crashCount()).alone(), "both were on trial");
        client().applyAs(
                        new CommitBatch.LeaseSlot(81, 0),
                        new StoreWrite.AppendJournal(innocent, 0, "[1]", RunState.RUNNING, List.of(), null));
        all = takenOver(82, all);
        CrashCount crashes = new CrashCount(client().work(suspect.run()).crashCount());
        assertEquals(1, crashes.alone(), "the other one made progress and is not on trial");
        assertEquals(5, crashes.total());
        assertEquals(1, client().work(innocent.run()).crashCount());
        var unused = takenOver(83, all);
        assertEquals(2, new CrashCount(client().work(suspect.run()).crashCount()).alone());
    }

    @Test
    default void an_intent_is_no_progress_and_a_suspect_run_stays_one_until_continued() {
        RunExecution by = driver();
        RunExecution next = takenOver(78, by);
        CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(78, 0);
        client().applyAs(hold, new StoreWrite.AppendJournal(next, 0, "", RunState.RUNNING, List.of(), null));
        assertEquals(1, client().work(by.run()).crashCount());
        var suspect = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"poison\"}", 0, false, true);
        client().applyAs(hold, new StoreWrite.AppendJournal(next, 0, "[1]", RunState.HELD, List.of(), suspect));
        assertEquals(1, client().work(by.run()).crashCount());
        client().applyAs(hold, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.WakeRuns(List.of(by.run()))));
        assertEquals(
                List.of(), client().applyAs(hold, new StoreWrite.ClaimRuns(5, List.of(), 0)), "it is left to a trial");
        assertEquals(List.of(by.run()), runsIn(RunState.HELD));
        assertEquals(List.of(), runsIn(RunState.WAITING));
        int other = client().ws + 1;
        assertFalse(client().applyAs(
                        hold,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.ContinueHeldRun(other, by.run(), "op", "why"))));
        assertTrue(client().applyAs(
                        hold,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.ContinueHeldRun(client().ws, by.run(), "op", "why"))));
        assertEquals(0, client().work(by.run()).crashCount());
        RunExecution last = new RunExecution(by.run(), next.claim() + 1);
        assertEquals(List.of(last), client().applyAs(hold, new StoreWrite.ClaimRuns(5, List.of(), 0)));
        assertFalse(
                client().applyAs(
                                hold,
                                new StoreWrite.ExecuteCommand<>(
                                        new StoreWriteCommand.ContinueHeldRun(client().ws, by.run(), "op", "why"))),
                "it is not held");
    }

    private List<RunId> runsIn(RunState state) {
        var filter = new StoreQueries.RunFilter(client().ws, null, state, null, false, 0, null, 10, null);
        return client().reads.runs(filter).stream().map(DatabaseRows.RunRow::id).toList();
    }

    @Test
    default void a_cancel_known_to_the_execution_does_not_wake_it_again() {
        RunExecution knows = driver();
        RunExecution learns = driver();
        for (RunExecution by : List.of(knows, learns)) {
            assertTrue(client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "why")));
            var rest = new StoreWrite.Suspension(
                    StoreWrite.Suspension.NEVER, "{\"for\":\"sleep\"}", 0, by.equals(knows), false);
            client().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest));
        }
        assertEquals(List.of(new RunExecution(learns.run(), learns.claim() + 1)), client().claim());
    }

    @Test
    default void a_cancel_does_not_revoke_an_earlier_wake_up() {
        RunExecution by = driver();
        assertTrue(client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "why")));
        client().change(new StoreWriteCommand.WakeRuns(List.of(by.run())));
        assertTrue(client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "asked twice")));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, true, false);
        client().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest));
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
    }

    /** The worker is gone without a word; the next one takes its run up. */
    private RunExecution takenOver(long lease, RunExecution before) {
        client().fixture.advance(Duration.ofSeconds(11));
        client().leases.start(lease, "client", client().slots(), TestStoreClient.TTL);
        client().leases.takeOverExpired(0);
        assertEquals(
                List.of(new RunExecution(before.run(), before.claim() + 1)),
                client().applyAs(new CommitBatch.LeaseSlot(lease, 0), new StoreWrite.ClaimRuns(5)));
        return new RunExecution(before.run(), before.claim() + 1);
    }

    private List<RunExecution> takenOver(long lease, List<RunExecution> before) {
        client().fixture.advance(Duration.ofSeconds(11));
        client().leases.start(lease, "client", client().slots(), TestStoreClient.TTL);
        client().leases.takeOverExpired(0);
        List<RunExecution> claimed =
                client().applyAs(new CommitBatch.LeaseSlot(lease, 0), new StoreWrite.ClaimRuns(before.size()));
        List<RunExecution> next = before.stream()
                .map(one -> new RunExecution(one.run(), one.claim() + 1))
                .toList();
        assertEquals(Set.copyOf(next), Set.copyOf(claimed));
        return next;
    }

    @Test
    default void a_clean_stop_counts_as_no_crash() {
        RunExecution by = driver();
        client().leases.end(TestStoreClient.LEASE);
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        assertEquals(0, client().work(by.run()).crashCount());
    }

    @Test
    default void runs_held_for_their_code_are_due_when_the_code_may_fit() {
        RunExecution held = driver();
        RunExecution waiting = driver();
        var code = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"code\"}", 0, false, false);
        client().apply(new StoreWrite.AppendJournal(held, 0, "", RunState.HELD, List.of(), code));
        client().apply(TestStoreClient.rest(waiting, StoreWrite.Suspension.NEVER, 0));
        assertEquals(0, client().change(new StoreWriteCommand.WakeHeldRuns("wf_other")));
        assertEquals(1, client().change(new StoreWriteCommand.WakeHeldRuns(TestStoreClient.WORKFLOW)));
        assertEquals(List.of(new RunExecution(held.run(), 2)), client().claim());
    }

    @Test
    default void runs_that_a_worker_cannot_execute_do_not_block_others() {
        for (int i = 0; i < 5; i++) {
            client().apply(client().admit(client().run(client().id()), List.of(), false));
        }
        client().publish(client().ws, "two", "wf_two");
        RunId mine = unowned(client().ws, "wf_two");
        assertEquals(
                List.of(new RunExecution(mine, 1)),
                client().apply(new StoreWrite.ClaimRuns(
                        2, List.of("wf_none", TestStoreClient.WORKFLOW), Integer.MAX_VALUE)));
        assertEquals(
                List.of(),
                client().apply(new StoreWrite.ClaimRuns(
                        2, List.of("wf_two", TestStoreClient.WORKFLOW), Integer.MAX_VALUE)));
        assertEquals(
                5,
                client().apply(new StoreWrite.ClaimRuns(9, List.of("wf_two"), Integer.MAX_VALUE))
                        .size());
    }

    /** A run that nobody drives. */
    private RunId unowned(int workspace, String workflowId) {
        RunId id = client().id();
        NewRun run = client().run(id);
        client().apply(client().admit(
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
        int other = client().ws + 1;
        client().publish(client().ws, "two", "wf_two");
        client().publish(other, "three", "wf_three");
        for (int i = 0; i < 20; i++) {
            unowned(client().ws, TestStoreClient.WORKFLOW);
        }
        RunId two = unowned(client().ws, "wf_two");
        RunId three = unowned(other, "wf_three");
        List<RunId> first = TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(6)));
        assertTrue(first.containsAll(List.of(two, three)), "each of the two others has its run");
        assertEquals(6, first.size(), "and what they leave over is used");
        assertEquals(16, client().apply(new StoreWrite.ClaimRuns(100)).size());
    }
}
