package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Admitted;
import dev.semel.store.Write.Driver;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What stands between the admission of a run and its start: places in queues, a rate, a delay. */
interface GateRules {
    Desk desk();

    private static NewRun.Gate queues(NewRun.Gate.Place... places) {
        return new NewRun.Gate(List.of(places), null, 0, null);
    }

    private static NewRun.Gate one(int cap) {
        return queues(new NewRun.Gate.Place("Q", cap));
    }

    private RunId enter(NewRun.Gate gate) {
        RunId run = desk().id();
        Admitted.Fresh fresh = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().gated(run, gate)));
        assertFalse(fresh.owned(), "it is claimed when its time has come");
        return run;
    }

    private void end(Driver by) {
        assertTrue(desk().apply(desk().end(by)).recorded());
    }

    @Test
    default void runs_of_a_queue_of_one_go_one_after_another_in_order() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        assertEquals(RunState.STARTED, desk().runOf(first).state());
        assertEquals(RunState.QUEUED, desk().runOf(second).state());
        assertEquals("{\"for\":\"queue\"}", desk().work(third).waits());
        for (RunId run : List.of(first, second, third)) {
            assertEquals(List.of(new Driver(run, 1)), desk().claim(), "exactly the next goes");
            assertEquals(List.of(), desk().claim());
            end(new Driver(run, 1));
        }
        assertEquals(0, desk().place.count("semel_queue_entry"));
        assertEquals(0, desk().place.count("semel_queue"), "an empty queue leaves no row");
    }

    @Test
    default void a_queue_of_two_lets_one_go_for_each_that_ends() {
        RunId[] runs = {enter(one(2)), enter(one(2)), enter(one(2)), enter(one(2))};
        assertEquals(List.of(new Driver(runs[0], 1), new Driver(runs[1], 1)), desk().claim());
        end(new Driver(runs[1], 1));
        assertEquals(List.of(new Driver(runs[2], 1)), desk().claim());
        desk().decided(desk().end(runs[0]), desk().end(runs[2]));
        assertEquals(List.of(new Driver(runs[3], 1)), desk().claim());
    }

    @Test
    default void runs_that_come_in_one_batch_queue_in_the_order_of_their_ids() {
        RunId[] runs = {desk().id(), desk().id(), desk().id()};
        desk().applyAll(desk().gated(runs[0], one(1)), desk().gated(runs[1], one(1)), desk().gated(runs[2], one(1)));
        for (RunId run : runs) {
            assertEquals(List.of(new Driver(run, 1)), desk().claim());
            end(new Driver(run, 1));
        }
    }

    @Test
    default void a_run_in_two_queues_starts_when_it_has_a_place_in_each() {
        var left = new NewRun.Gate.Place("L", 1);
        var right = new NewRun.Gate.Place("R", 1);
        RunId inLeft = enter(queues(left));
        RunId inRight = enter(queues(right));
        RunId both = enter(queues(right, left));
        assertEquals(List.of(new Driver(inLeft, 1), new Driver(inRight, 1)), desk().claim());
        end(new Driver(inLeft, 1));
        assertEquals(List.of(), desk().claim());
        end(new Driver(inRight, 1));
        assertEquals(List.of(new Driver(both, 1)), desk().claim());
    }

    @Test
    default void an_admission_and_an_end_applied_again_move_nobody_in_the_queue() {
        RunId first = enter(one(1));
        Write.Admit admit = desk().gated(desk().id(), one(1));
        Admitted fresh = desk().apply(admit);
        assertEquals(fresh, desk().apply(admit));
        assertEquals(2, desk().place.count("semel_queue_entry"));
        desk().claim();
        Write.End end = desk().end(first);
        assertTrue(desk().apply(end).recorded());
        assertTrue(desk().apply(end).recorded());
        assertEquals(List.of(new Driver(admit.run().id(), 1)), desk().claim());
        assertEquals(1, desk().place.count("semel_queue_entry"));
        assertFalse(assertInstanceOf(Admitted.Fresh.class, desk().apply(admit)).owned());
    }

    @Test
    default void an_old_execution_does_not_free_the_place() {
        RunId first = enter(one(1));
        enter(one(1));
        Driver old = desk().claim().getFirst();
        desk().change(new Edit.GiveBack(old));
        assertEquals(List.of(new Driver(first, 2)), desk().claim());
        assertFalse(desk().apply(desk().end(old)).recorded());
        assertEquals(List.of(), desk().claim());
    }

    @Test
    default void a_run_let_go_while_its_workflow_is_paused_waits_for_the_end_of_the_pause() {
        RunId first = enter(one(1));
        RunId second = enter(one(1));
        RunId third = enter(one(1));
        desk().claim();
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true));
        end(new Driver(first, 1));
        assertEquals(List.of(), desk().claim());
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, false));
        assertEquals(List.of(new Driver(second, 1)), desk().claim(), "and the one behind it for its place");
        assertEquals(RunState.QUEUED, desk().runOf(third).state());
    }

    @Test
    default void a_run_queued_by_a_pause_keeps_its_place_in_the_order() {
        RunId paused = desk().id();
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true));
        desk().apply(desk().admit(desk().gatedRun(paused, one(1), RunState.QUEUED), List.of(), false));
        assertEquals(List.of(), desk().claim());
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, false));
        RunId later = enter(one(1));
        assertEquals(List.of(new Driver(paused, 1)), desk().claim());
        end(new Driver(paused, 1));
        assertEquals(List.of(new Driver(later, 1)), desk().claim());
    }

    @Test
    default void a_run_cancelled_in_the_queue_ends_without_letting_anybody_go_early() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        RunId third = enter(one(1));
        desk().claim();
        assertTrue(desk().change(new Edit.Cancel(desk().ws, cancelled, "op", "why")));
        Driver by = desk().claim().getFirst();
        assertEquals(cancelled, by.run());
        end(by);
        assertEquals(List.of(), desk().claim());
        end(new Driver(first, 1));
        assertEquals(List.of(new Driver(third, 1)), desk().claim());
    }

    @Test
    default void a_run_that_is_let_go_while_paused_and_cancelled_can_end() {
        RunId first = enter(one(1));
        RunId cancelled = enter(one(1));
        desk().claim();
        desk().change(new Edit.Cancel(desk().ws, cancelled, "op", "why"));
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true));
        end(new Driver(first, 1));
        assertEquals(List.of(new Driver(cancelled, 1)), desk().claim());
    }

    @Test
    default void a_duplicate_trigger_takes_no_place() {
        Wish key = desk().key("K");
        RunId run = desk().id();
        desk().apply(desk().gated(run, one(1), key));
        List<Object> again = desk().decided(
                        desk().gated(desk().id(), one(1), key),
                        desk().gated(desk().id(), queues(new NewRun.Gate.Place("other", 1)), key));
        for (Object outcome : again) {
            Known known = assertInstanceOf(Admitted.Held.class, outcome).known().getFirst();
            assertNotNull(known);
            assertEquals(run, known.run());
        }
        var rate = new NewRun.Gate(List.of(), new NewRun.Gate.Rate("R", 1000, 2), 0, null);
        assertInstanceOf(Admitted.Held.class, desk().apply(desk().gated(desk().id(), rate, key)));
        assertEquals(1, desk().place.count("semel_queue_entry"));
        assertEquals(1, desk().place.count("semel_queue"));
        assertEquals(0, desk().place.count("semel_rate_limit"));
    }

    @Test
    default void a_duplicate_in_the_same_batch_is_told_that_the_run_is_queued() {
        enter(one(1));
        Wish key = desk().key("K");
        List<Object> outcomes =
                desk().decided(desk().gated(desk().id(), one(1), key), desk().gated(desk().id(), one(1), key));
        assertInstanceOf(Admitted.Fresh.class, outcomes.getFirst());
        Known known =
                assertInstanceOf(Admitted.Held.class, outcomes.get(1)).known().getFirst();
        assertNotNull(known);
        assertEquals(RunState.QUEUED, known.state());
    }

    @Test
    default void a_rate_spaces_the_starts_after_its_burst() {
        var gate = new NewRun.Gate(List.of(), new NewRun.Gate.Rate("R", 1000, 2), 0, null);
        RunId[] runs = {enter(gate), enter(gate), enter(gate), enter(gate)};
        assertEquals(List.of(new Driver(runs[0], 1), new Driver(runs[1], 1)), desk().claim());
        assertEquals(Place.START + 1000, desk().work(runs[2]).due());
        assertEquals(Place.START + 2000, desk().work(runs[3]).due());
        desk().place.setTime(Place.START + 999);
        assertEquals(List.of(), desk().claim());
        desk().place.setTime(Place.START + 1000);
        assertEquals(List.of(new Driver(runs[2], 1)), desk().claim());
        desk().place.setTime(Place.START + 10_000);
        desk().claim();
        RunId late = enter(gate);
        assertEquals(List.of(new Driver(late, 1)), desk().claim(), "unused time is not saved up beyond the burst");
    }

    @Test
    default void a_delayed_run_is_queued_until_its_time() {
        RunId run = enter(new NewRun.Gate(List.of(), null, 50, null));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(
                "{\"for\":\"delay\",\"until\":" + (Place.START + 50) + "}",
                desk().work(run).waits());
        assertEquals(List.of(), desk().claim());
        desk().place.setTime(Place.START + 50);
        assertEquals(List.of(new Driver(run, 1)), desk().claim());
        assertEquals(RunState.STARTED, desk().runOf(run).state());
    }

    @Test
    default void a_run_knows_where_it_comes_from() {
        RunId first = desk().fresh();
        RunId child = desk().id();
        RunId replay = desk().id();
        var links = new NewRun.Links(null, first, null);
        var replays = new NewRun.Links(first, null, first);
        RunId deep = desk().id();
        var caused = new NewRun.Links(null, null, null, "", 3);
        Write<?>[] writes = {
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
    default void a_run_of_another_line_does_not_take_the_key_of_a_failed_one() {
        Wish key = desk().key("K", Known.HOLD | Known.RERUN_FAILED);
        RunId failed = desk().fresh(key);
        desk().apply(desk().failed(failed));
        RunId other = desk().fresh();
        RunId again = desk().id();
        var links = new NewRun.Links(other, null, other);
        Admitted admitted =
                desk().apply(desk().admit(desk().linked(again, links, null, RunState.STARTED), List.of(key), true));
        assertEquals(
                failed,
                assertInstanceOf(Admitted.Failed.class, admitted).known().lineage());
    }
}
