package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What stands between the admission of a run and its start: places in queues, a rate, a delay. */
interface StartConditionRules {
    TestStoreClient desk();

    private static NewRun.StartConditions queues(NewRun.StartConditions.QueueLimit... queueLimits) {
        return new NewRun.StartConditions(List.of(queueLimits), null, 0, null);
    }

    private static NewRun.StartConditions one(int cap) {
        return queues(new NewRun.StartConditions.QueueLimit("Q", cap));
    }

    private RunId enter(NewRun.StartConditions conditions) {
        RunId run = desk().id();
        AdmitResult.Fresh fresh =
                assertInstanceOf(AdmitResult.Fresh.class, desk().apply(desk().gated(run, conditions)));
        assertFalse(fresh.owned(), "it is claimed when its time has come");
        return run;
    }

    private void end(RunExecution by) {
        assertTrue(desk().apply(desk().end(by)).recorded());
    }

    @Test
    default void runs_of_a_queue_of_one_execute_in_order() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        assertEquals(RunState.STARTED, desk().runOf(first).state());
        assertEquals(RunState.QUEUED, desk().runOf(second).state());
        assertEquals("{\"for\":\"queue\"}", desk().work(third).waitingFor());
        for (RunId run : List.of(first, second, third)) {
            assertEquals(List.of(new RunExecution(run, 1)), desk().claim(), "exactly the next goes");
            assertEquals(List.of(), desk().claim());
            end(new RunExecution(run, 1));
        }
        assertEquals(0, desk().fixture.count("semel_queue_entry"));
        assertEquals(0, desk().fixture.count("semel_queue"), "an empty queue leaves no row");
    }

    @Test
    default void a_queue_of_two_starts_one_run_for_each_that_ends() {
        RunId[] runs = {enter(one(2)), enter(one(2)), enter(one(2)), enter(one(2))};
        assertEquals(List.of(new RunExecution(runs[0], 1), new RunExecution(runs[1], 1)), desk().claim());
        end(new RunExecution(runs[1], 1));
        assertEquals(List.of(new RunExecution(runs[2], 1)), desk().claim());
        desk().decided(desk().end(runs[0]), desk().end(runs[2]));
        assertEquals(List.of(new RunExecution(runs[3], 1)), desk().claim());
    }

    @Test
    default void runs_that_come_in_one_batch_queue_in_the_order_of_their_ids() {
        RunId[] runs = {desk().id(), desk().id(), desk().id()};
        desk().applyAll(desk().gated(runs[0], one(1)), desk().gated(runs[1], one(1)), desk().gated(runs[2], one(1)));
        for (RunId run : runs) {
            assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
            end(new RunExecution(run, 1));
        }
    }

    @Test
    default void a_run_in_two_queues_starts_when_both_have_a_free_slot() {
        var left = new NewRun.StartConditions.QueueLimit("L", 1);
        var right = new NewRun.StartConditions.QueueLimit("R", 1);
        RunId inLeft = enter(queues(left));
        RunId inRight = enter(queues(right));
        RunId both = enter(queues(right, left));
        assertEquals(List.of(new RunExecution(inLeft, 1), new RunExecution(inRight, 1)), desk().claim());
        end(new RunExecution(inLeft, 1));
        assertEquals(List.of(), desk().claim());
        end(new RunExecution(inRight, 1));
        assertEquals(List.of(new RunExecution(both, 1)), desk().claim());
    }

    @Test
    default void an_admission_and_an_end_applied_again_move_no_queue_entry() {
        RunId first = enter(one(1));
        StoreWrite.AdmitRun admit = desk().gated(desk().id(), one(1));
        AdmitResult fresh = desk().apply(admit);
        assertEquals(fresh, desk().apply(admit));
        assertEquals(2, desk().fixture.count("semel_queue_entry"));
        desk().claim();
        StoreWrite.EndRun end = desk().end(first);
        assertTrue(desk().apply(end).recorded());
        assertTrue(desk().apply(end).recorded());
        assertEquals(List.of(new RunExecution(admit.run().id(), 1)), desk().claim());
        assertEquals(1, desk().fixture.count("semel_queue_entry"));
        assertFalse(
                assertInstanceOf(AdmitResult.Fresh.class, desk().apply(admit)).owned());
    }

    @Test
    default void an_outdated_execution_does_not_free_the_slot() {
        RunId first = enter(one(1));
        enter(one(1));
        RunExecution old = desk().claim().getFirst();
        desk().change(new StoreWriteCommand.ReturnRun(old));
        assertEquals(List.of(new RunExecution(first, 2)), desk().claim());
        assertFalse(desk().apply(desk().end(old)).recorded());
        assertEquals(List.of(), desk().claim());
    }

    @Test
    default void a_run_released_while_its_workflow_is_paused_waits_for_the_resume() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        desk().claim();
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        end(new RunExecution(first, 1));
        assertEquals(List.of(), desk().claim());
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(second, 1)), desk().claim(), "and the one behind it for its place");
        assertEquals(RunState.QUEUED, desk().runOf(third).state());
    }

    @Test
    default void a_run_queued_by_a_pause_keeps_its_queue_position() {
        RunId paused = desk().id();
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        desk().apply(desk().admit(desk().gatedRun(paused, one(1), RunState.QUEUED), List.of(), false));
        assertEquals(List.of(), desk().claim());
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false));
        RunId later = enter(one(1));
        assertEquals(List.of(new RunExecution(paused, 1)), desk().claim());
        end(new RunExecution(paused, 1));
        assertEquals(List.of(new RunExecution(later, 1)), desk().claim());
    }

    @Test
    default void a_run_cancelled_in_the_queue_starts_no_other_early() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        RunId third = enter(one(1));
        desk().claim();
        assertTrue(desk().change(new StoreWriteCommand.CancelRun(desk().ws, cancelled, "op", "why")));
        RunExecution by = desk().claim().getFirst();
        assertEquals(cancelled, by.run());
        end(by);
        assertEquals(List.of(), desk().claim());
        end(new RunExecution(first, 1));
        assertEquals(List.of(new RunExecution(third, 1)), desk().claim());
    }

    @Test
    default void a_released_run_of_a_paused_workflow_can_be_cancelled() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        desk().claim();
        desk().change(new StoreWriteCommand.CancelRun(desk().ws, cancelled, "op", "why"));
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        end(new RunExecution(first, 1));
        assertEquals(List.of(new RunExecution(cancelled, 1)), desk().claim());
    }

    @Test
    default void a_duplicate_trigger_uses_no_slot() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().id();
        desk().apply(desk().gated(run, one(1), key));
        List<Object> again = desk().decided(
                        desk().gated(desk().id(), one(1), key),
                        desk().gated(desk().id(), queues(new NewRun.StartConditions.QueueLimit("other", 1)), key));
        for (Object outcome : again) {
            RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, outcome)
                    .keyRecords()
                    .getFirst();
            assertNotNull(keyRecord);
            assertEquals(run, keyRecord.run());
        }
        var rate = new NewRun.StartConditions(List.of(), new NewRun.StartConditions.RateLimit("R", 1000, 2), 0, null);
        assertInstanceOf(AdmitResult.KeysHeld.class, desk().apply(desk().gated(desk().id(), rate, key)));
        assertEquals(1, desk().fixture.count("semel_queue_entry"));
        assertEquals(1, desk().fixture.count("semel_queue"));
        assertEquals(0, desk().fixture.count("semel_rate_limit"));
    }

    @Test
    default void a_duplicate_in_the_same_batch_reports_a_queued_run() {
        enter(one(1));
        RunDeduplicationKeyClaim key = desk().key("K");
        List<Object> outcomes =
                desk().decided(desk().gated(desk().id(), one(1), key), desk().gated(desk().id(), one(1), key));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, outcomes.get(1))
                .keyRecords()
                .getFirst();
        assertNotNull(keyRecord);
        assertEquals(RunState.QUEUED, keyRecord.state());
    }

    @Test
    default void a_rate_limit_spaces_the_starts_after_its_burst() {
        var conditions =
                new NewRun.StartConditions(List.of(), new NewRun.StartConditions.RateLimit("R", 1000, 2), 0, null);
        RunId[] runs = {enter(conditions), enter(conditions), enter(conditions), enter(conditions)};
        assertEquals(List.of(new RunExecution(runs[0], 1), new RunExecution(runs[1], 1)), desk().claim());
        assertEquals(StoreFixture.START + 1000, desk().work(runs[2]).due());
        assertEquals(StoreFixture.START + 2000, desk().work(runs[3]).due());
        desk().fixture.setTime(StoreFixture.START + 999);
        assertEquals(List.of(), desk().claim());
        desk().fixture.setTime(StoreFixture.START + 1000);
        assertEquals(List.of(new RunExecution(runs[2], 1)), desk().claim());
        desk().fixture.setTime(StoreFixture.START + 10_000);
        desk().claim();
        RunId late = enter(conditions);
        assertEquals(
                List.of(new RunExecution(late, 1)), desk().claim(), "unused time is not saved up beyond the burst");
    }

    @Test
    default void a_delayed_run_is_queued_until_its_time() {
        RunId run = enter(new NewRun.StartConditions(List.of(), null, 50, null));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(
                "{\"for\":\"delay\",\"until\":" + (StoreFixture.START + 50) + "}",
                desk().work(run).waitingFor());
        assertEquals(List.of(), desk().claim());
        desk().fixture.setTime(StoreFixture.START + 50);
        assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
        assertEquals(RunState.STARTED, desk().runOf(run).state());
    }

    @Test
    default void a_run_stores_its_origin() {
        RunId first = desk().fresh();
        RunId child = desk().id();
        RunId replay = desk().id();
        var links = new NewRun.RunParentage(null, first, null);
        var replays = new NewRun.RunParentage(first, null, first);
        RunId deep = desk().id();
        var caused = new NewRun.RunParentage(null, null, null, "", 3);
        StoreWrite<?>[] writes = {
            desk().admit(desk().linked(deep, caused, null, RunState.STARTED), List.of(), true),
            desk().admit(desk().linked(child, links, null, RunState.STARTED), List.of(), true),
            desk().admit(desk().linked(replay, replays, null, RunState.STARTED), List.of(), true)
        };
        assertEquals(desk().applyAll(writes), desk().applyAll(writes), "applied again it is the same");
        assertEquals(3, desk().runOf(deep).depth());
        assertEquals(0, desk().runOf(child).depth() + desk().runOf(first).depth());
        assertEquals(first, desk().runOf(child).parent());
        assertEquals(child, desk().runOf(child).lineage());
        assertNull(desk().runOf(child).replayOf());
        assertEquals(first, desk().runOf(replay).replayOf());
        assertEquals(first, desk().runOf(replay).lineage());
        assertEquals(List.of(child), desk().reads.children(first));
        assertEquals(List.of(replay), desk().reads.lineage(first));
        assertEquals(List.of(), desk().reads.lineage(replay));
    }

    @Test
    default void a_run_of_another_lineage_does_not_claim_the_key_of_a_failed_run() {
        RunDeduplicationKeyClaim key =
                desk().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId failed = desk().fresh(key);
        desk().apply(desk().failed(failed));
        RunId other = desk().fresh();
        RunId again = desk().id();
        var links = new NewRun.RunParentage(other, null, other);
        AdmitResult admitted =
                desk().apply(desk().admit(desk().linked(again, links, null, RunState.STARTED), List.of(key), true));
        assertEquals(
                failed,
                assertInstanceOf(AdmitResult.HolderFailed.class, admitted)
                        .keyRecord()
                        .lineage());
    }
}
