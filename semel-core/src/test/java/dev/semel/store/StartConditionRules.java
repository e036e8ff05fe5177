package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What stands between the admission of a run and its start: places in queues, a rate, a delay. */
interface StartConditionRules {
    TestStoreClient client();

    private static StartConditions queues(StartConditions.QueueLimit... queueLimits) {
        return new StartConditions(List.of(queueLimits), null, 0, null);
    }

    private static StartConditions one(int cap) {
        return queues(new StartConditions.QueueLimit("Q", cap));
    }

    private RunId enter(StartConditions conditions) {
        RunId run = client().id();
        AdmitResult.Fresh fresh =
                assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().gated(run, conditions)));
        assertFalse(fresh.owned(), "it is claimed when its time has come");
        return run;
    }

    private void end(RunExecution by) {
        assertTrue(client().apply(client().end(by)).recorded());
    }

    @Test
    default void runs_of_a_queue_of_one_execute_in_order() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        assertEquals(RunState.STARTED, client().runOf(first).state());
        assertEquals(RunState.QUEUED, client().runOf(second).state());
        assertEquals("{\"for\":\"queue\"}", client().work(third).waitingFor());
        for (RunId run : List.of(first, second, third)) {
            assertEquals(List.of(new RunExecution(run, 1)), client().claim(), "exactly the next goes");
            assertEquals(List.of(), client().claim());
            end(new RunExecution(run, 1));
        }
        assertEquals(0, client().fixture.count("semel_queue_entry"));
        assertEquals(0, client().fixture.count("semel_queue"), "an empty queue leaves no row");
    }

    @Test
    default void a_queue_of_two_starts_one_run_for_each_that_ends() {
        RunId[] runs = {enter(one(2)), enter(one(2)), enter(one(2)), enter(one(2))};
        assertEquals(List.of(new RunExecution(runs[0], 1), new RunExecution(runs[1], 1)), client().claim());
        end(new RunExecution(runs[1], 1));
        assertEquals(List.of(new RunExecution(runs[2], 1)), client().claim());
        client().decided(client().end(runs[0]), client().end(runs[2]));
        assertEquals(List.of(new RunExecution(runs[3], 1)), client().claim());
    }

    @Test
    default void runs_that_come_in_one_batch_queue_in_the_order_of_their_ids() {
        RunId[] runs = {client().id(), client().id(), client().id()};
        client().applyAll(
                        client().gated(runs[0], one(1)),
                        client().gated(runs[1], one(1)),
                        client().gated(runs[2], one(1)));
        for (RunId run : runs) {
            assertEquals(List.of(new RunExecution(run, 1)), client().claim());
            end(new RunExecution(run, 1));
        }
    }

    @Test
    default void a_run_in_two_queues_starts_when_both_have_a_free_slot() {
        var left = new StartConditions.QueueLimit("L", 1);
        var right = new StartConditions.QueueLimit("R", 1);
        RunId inLeft = enter(queues(left));
        RunId inRight = enter(queues(right));
        RunId both = enter(queues(right, left));
        assertEquals(List.of(new RunExecution(inLeft, 1), new RunExecution(inRight, 1)), client().claim());
        end(new RunExecution(inLeft, 1));
        assertEquals(List.of(), client().claim());
        end(new RunExecution(inRight, 1));
        assertEquals(List.of(new RunExecution(both, 1)), client().claim());
    }

    private static StartConditions last(int cap, long delay, StartConditions.QueueLimit... others) {
        List<StartConditions.QueueLimit> all = new ArrayList<>(List.of(others));
        all.add(new StartConditions.QueueLimit("Q", cap, true));
        return new StartConditions(all, null, delay, null);
    }

    @Test
    default void a_delayed_run_enters_its_last_queue_when_it_is_due() {
        RunId delayed = enter(last(1, 100));
        RunId first = enter(last(1, 0));
        RunId second = enter(last(1, 0));
        assertEquals(List.of(new RunExecution(first, 1)), client().claim());
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(), client().claim(), "it queues behind the others");
        assertEquals("{\"for\":\"queue\"}", client().work(delayed).waitingFor());
        end(new RunExecution(first, 1));
        assertEquals(List.of(new RunExecution(second, 1)), client().claim());
        end(new RunExecution(second, 1));
        assertEquals(List.of(new RunExecution(delayed, 1)), client().claim());
        end(new RunExecution(delayed, 1));
        assertEquals(0, client().fixture.count("semel_queue_entry"));
        assertEquals(0, client().fixture.count("semel_queue"));
    }

    @Test
    default void a_run_that_waits_in_one_queue_takes_no_place_in_its_last() {
        var ann = new StartConditions.QueueLimit("ann", 1);
        RunId delayed = enter(last(1, 100, ann));
        RunId behind = enter(last(1, 0, ann));
        RunId other = enter(last(1, 0));
        assertEquals(List.of(new RunExecution(other, 1)), client().claim());
        end(new RunExecution(other, 1));
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(new RunExecution(delayed, 1)), client().claim(), "nobody waits for it with its place");
        end(new RunExecution(delayed, 1));
        assertEquals(List.of(new RunExecution(behind, 1)), client().claim());
    }

    @Test
    default void a_delayed_run_that_is_cancelled_or_paused_leaves_no_queue_entry() {
        RunId cancelled = enter(last(1, 100));
        client().change(new StoreWriteCommand.CancelRun(client().ws, cancelled, "op", "why"));
        assertEquals(List.of(new RunExecution(cancelled, 1)), client().claim());
        end(new RunExecution(cancelled, 1));
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        RunId paused = client().id();
        client().apply(client().admit(client().gatedRun(paused, last(1, 100), RunState.QUEUED), List.of(), false));
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(), client().claim());
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(paused, 1)), client().claim());
        end(new RunExecution(paused, 1));
        assertEquals(0, client().fixture.count("semel_queue_entry"));
        assertEquals(0, client().fixture.count("semel_queue"));
    }

    @Test
    default void a_raised_limit_starts_waiting_runs_in_order_and_a_lowered_one_stops_none() {
        RunId[] runs = {enter(one(1)), enter(one(1)), enter(one(1)), enter(one(1))};
        assertEquals(List.of(new RunExecution(runs[0], 1)), client().claim());
        assertTrue(client().reads.hasOtherLimit("Q", 3));
        assertEquals(1, client().change(new StoreWriteCommand.SetConcurrencyLimit("Q", 3, 1)), "one at a time");
        assertEquals(1, client().change(new StoreWriteCommand.SetConcurrencyLimit("Q", 3, 10)));
        assertFalse(client().reads.hasOtherLimit("Q", 3));
        assertEquals(List.of(new RunExecution(runs[1], 1), new RunExecution(runs[2], 1)), client().claim());
        assertEquals(0, client().change(new StoreWriteCommand.SetConcurrencyLimit("Q", 1, 10)));
        end(new RunExecution(runs[0], 1));
        end(new RunExecution(runs[1], 1));
        assertEquals(List.of(), client().claim(), "two more than the new limit have begun");
        end(new RunExecution(runs[2], 1));
        assertEquals(List.of(new RunExecution(runs[3], 1)), client().claim());
    }

    @Test
    default void an_admission_and_an_end_applied_again_move_no_queue_entry() {
        RunId first = enter(one(1));
        StoreWrite.AdmitRun admit = client().gated(client().id(), one(1));
        AdmitResult fresh = client().apply(admit);
        assertEquals(fresh, client().apply(admit));
        assertEquals(2, client().fixture.count("semel_queue_entry"));
        client().claim();
        StoreWrite.EndRun end = client().end(first);
        assertTrue(client().apply(end).recorded());
        assertTrue(client().apply(end).recorded());
        assertEquals(List.of(new RunExecution(admit.run().id(), 1)), client().claim());
        assertEquals(1, client().fixture.count("semel_queue_entry"));
        assertFalse(
                assertInstanceOf(AdmitResult.Fresh.class, client().apply(admit)).owned());
    }

    @Test
    default void an_outdated_execution_does_not_free_the_slot() {
        RunId first = enter(one(1));
        enter(one(1));
        RunExecution old = client().claim().getFirst();
        client().change(new StoreWriteCommand.ReturnRun(old));
        assertEquals(List.of(new RunExecution(first, 2)), client().claim());
        assertFalse(client().apply(client().end(old)).recorded());
        assertEquals(List.of(), client().claim());
    }

    @Test
    default void a_run_released_while_its_workflow_is_paused_waits_for_the_resume() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        client().claim();
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        end(new RunExecution(first, 1));
        assertEquals(List.of(), client().claim());
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(second, 1)), client().claim(), "and the one behind it for its place");
        assertEquals(RunState.QUEUED, client().runOf(third).state());
    }

    @Test
    default void a_run_queued_by_a_pause_keeps_its_queue_position() {
        RunId paused = client().id();
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        client().apply(client().admit(client().gatedRun(paused, one(1), RunState.QUEUED), List.of(), false));
        assertEquals(List.of(), client().claim());
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false));
        RunId later = enter(one(1));
        assertEquals(List.of(new RunExecution(paused, 1)), client().claim());
        end(new RunExecution(paused, 1));
        assertEquals(List.of(new RunExecution(later, 1)), client().claim());
    }

    @Test
    default void a_run_cancelled_in_the_queue_starts_no_other_early() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        RunId third = enter(one(1));
        client().claim();
        assertTrue(client().change(new StoreWriteCommand.CancelRun(client().ws, cancelled, "op", "why")));
        RunExecution by = client().claim().getFirst();
        assertEquals(cancelled, by.run());
        end(by);
        assertEquals(List.of(), client().claim());
        end(new RunExecution(first, 1));
        assertEquals(List.of(new RunExecution(third, 1)), client().claim());
    }

    @Test
    default void a_released_run_of_a_paused_workflow_can_be_cancelled() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        client().claim();
        client().change(new StoreWriteCommand.CancelRun(client().ws, cancelled, "op", "why"));
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        end(new RunExecution(first, 1));
        assertEquals(List.of(new RunExecution(cancelled, 1)), client().claim());
    }

    @Test
    default void a_duplicate_trigger_uses_no_slot() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().id();
        client().apply(client().gated(run, one(1), key));
        List<Object> again = client().decided(
                        client().gated(client().id(), one(1), key),
                        client().gated(client().id(), queues(new StartConditions.QueueLimit("other", 1)), key));
        for (Object outcome : again) {
            RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, outcome)
                    .keyRecords()
                    .getFirst();
            assertNotNull(keyRecord);
            assertEquals(run, keyRecord.run());
        }
        var rate = new StartConditions(List.of(), new StartConditions.RateLimit("R", 1000, 2), 0, null);
        assertInstanceOf(AdmitResult.KeysHeld.class, client().apply(client().gated(client().id(), rate, key)));
        assertEquals(1, client().fixture.count("semel_queue_entry"));
        assertEquals(1, client().fixture.count("semel_queue"));
        assertEquals(0, client().fixture.count("semel_rate_limit"));
    }

    @Test
    default void a_duplicate_in_the_same_batch_reports_a_queued_run() {
        enter(one(1));
        RunDeduplicationKeyClaim key = client().key("K");
        List<Object> outcomes = client().decided(
                        client().gated(client().id(), one(1), key), client().gated(client().id(), one(1), key));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, outcomes.get(1))
                .keyRecords()
                .getFirst();
        assertNotNull(keyRecord);
        assertEquals(RunState.QUEUED, keyRecord.state());
    }

    @Test
    default void a_rate_limit_spaces_the_starts_after_its_burst() {
        var conditions = new StartConditions(List.of(), new StartConditions.RateLimit("R", 1000, 2), 0, null);
        RunId[] runs = {enter(conditions), enter(conditions), enter(conditions), enter(conditions)};
        assertEquals(List.of(new RunExecution(runs[0], 1), new RunExecution(runs[1], 1)), client().claim());
        assertEquals(StoreFixture.START + 1000, client().work(runs[2]).due());
        assertEquals(StoreFixture.START + 2000, client().work(runs[3]).due());
        client().fixture.setTime(StoreFixture.START + 999);
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 1000);
        assertEquals(List.of(new RunExecution(runs[2], 1)), client().claim());
        client().fixture.setTime(StoreFixture.START + 10_000);
        client().claim();
        RunId late = enter(conditions);
        assertEquals(
                List.of(new RunExecution(late, 1)), client().claim(), "unused time is not saved up beyond the burst");
    }

    @Test
    default void a_delayed_run_is_queued_until_its_time() {
        RunId run = enter(new StartConditions(List.of(), null, 50, null));
        assertEquals(RunState.QUEUED, client().runOf(run).state());
        assertEquals(
                "{\"for\":\"delay\",\"until\":" + (StoreFixture.START + 50) + "}",
                client().work(run).waitingFor());
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 50);
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
        assertEquals(RunState.STARTED, client().runOf(run).state());
    }

    @Test
    default void a_run_stores_its_origin() {
        RunId first = client().fresh();
        RunId child = client().id();
        RunId replay = client().id();
        var links = new NewRun.RunParentage(null, first, null);
        var replays = new NewRun.RunParentage(first, null, first);
        RunId deep = client().id();
        var caused = new NewRun.RunParentage(null, null, null, "", 3);
        StoreWrite<?>[] writes = {
            client().admit(client().linked(deep, caused, null, RunState.STARTED), List.of(), true),
            client().admit(client().linked(child, links, null, RunState.STARTED), List.of(), true),
            client().admit(client().linked(replay, replays, null, RunState.STARTED), List.of(), true)
        };
        assertEquals(client().applyAll(writes), client().applyAll(writes), "applied again it is the same");
        assertEquals(3, client().runOf(deep).depth());
        assertEquals(0, client().runOf(child).depth() + client().runOf(first).depth());
        assertEquals(first, client().runOf(child).parent());
        assertEquals(child, client().runOf(child).lineage());
        assertNull(client().runOf(child).replayOf());
        assertEquals(first, client().runOf(replay).replayOf());
        assertEquals(first, client().runOf(replay).lineage());
        assertEquals(List.of(child), client().reads.children(first, 10));
        assertEquals(List.of(replay), client().reads.lineage(first));
        assertEquals(List.of(), client().reads.lineage(replay));
    }

    @Test
    default void a_run_of_another_lineage_does_not_claim_the_key_of_a_failed_run() {
        RunDeduplicationKeyClaim key =
                client().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId failed = client().fresh(key);
        client().apply(client().failed(failed));
        RunId other = client().fresh();
        RunId again = client().id();
        var links = new NewRun.RunParentage(other, null, other);
        AdmitResult admitted = client().apply(
                        client().admit(client().linked(again, links, null, RunState.STARTED), List.of(key), true));
        assertEquals(
                failed,
                assertInstanceOf(AdmitResult.HolderFailed.class, admitted)
                        .keyRecord()
                        .lineage());
    }
}
