package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Triggers of one name that come close together are one run, with the newest input. */
interface QuietRules {
    Desk desk();

    private static NewRun.StartConditions quiet(String name) {
        return new NewRun.StartConditions(List.of(), null, 0, new NewRun.StartConditions.DebounceWindow(name, 100, 250));
    }

    private AdmitResult trigger(RunId id, KeyClaim... wishes) {
        return desk().apply(desk().gated(id, quiet("Q"), wishes));
    }

    private RunId first() {
        RunId run = desk().id();
        assertFalse(assertInstanceOf(AdmitResult.Fresh.class, trigger(run)).owned());
        return run;
    }

    private AdmitResult absorbed(RunId run, long due) {
        return new AdmitResult.Debounced(desk().place.time(), run, null, due);
    }

    @Test
    default void the_first_trigger_waits_for_quiet() {
        RunId run = first();
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(Place.START + 100, desk().work(run).due());
        desk().place.setTime(Place.START + 99);
        assertEquals(List.of(), desk().claim());
        desk().place.setTime(Place.START + 100);
        assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
    }

    @Test
    default void a_later_trigger_is_taken_in_and_its_input_is_the_newest() {
        RunId run = first();
        desk().place.setTime(Place.START + 60);
        RunId second = desk().id();
        assertEquals(absorbed(run, Place.START + 160), trigger(second));
        assertEquals("{\"id\":\"" + second + "\"}", desk().runOf(run).input());
        assertNull(desk().reads.run(desk().ws, second), "it makes no run of its own");
        assertEquals(1, desk().place.count("semel_run"));
        desk().place.setTime(Place.START + 159);
        assertEquals(List.of(), desk().claim());
        desk().place.setTime(Place.START + 160);
        assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
    }

    @Test
    default void the_wait_for_quiet_has_an_end() {
        RunId run = first();
        for (long at = 90; at <= 240; at += 50) {
            desk().place.setTime(Place.START + at);
            assertEquals(absorbed(run, Place.START + Math.min(at + 100, 250)), trigger(desk().id()));
        }
        desk().place.setTime(Place.START + 250);
        RunId next = desk().id();
        assertInstanceOf(AdmitResult.Fresh.class, trigger(next), "its time has come: the next trigger is another run");
        assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
        assertEquals(Place.START + 350, desk().work(next).due());
    }

    @Test
    default void a_trigger_after_the_start_is_another_run() {
        RunId run = first();
        desk().place.setTime(Place.START + 100);
        desk().claim();
        RunId next = desk().id();
        assertInstanceOf(AdmitResult.Fresh.class, trigger(next));
        desk().apply(desk().end(run));
        assertEquals(absorbed(next, Place.START + 200), trigger(desk().id()));
    }

    @Test
    default void a_run_that_is_to_be_cancelled_takes_nothing_in() {
        RunId run = first();
        desk().change(new StoreCommand.CancelRun(desk().ws, run, "op", "why"));
        assertInstanceOf(AdmitResult.Fresh.class, trigger(desk().id()));
    }

    @Test
    default void other_names_are_quiet_for_themselves() {
        first();
        assertInstanceOf(AdmitResult.Fresh.class, desk().apply(desk().gated(desk().id(), quiet("other"))));
        assertInstanceOf(AdmitResult.Fresh.class, desk().apply(desk().admit(desk().id())));
    }

    @Test
    default void triggers_of_one_name_in_one_batch_are_one_run() {
        RunId run = desk().id();
        List<Object> outcomes = desk().decided(
                        desk().gated(run, quiet("Q")),
                        desk().gated(desk().id(), quiet("Q")),
                        desk().gated(desk().id(), quiet("Q"), desk().key("K")));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        assertEquals(absorbed(run, Place.START + 100), outcomes.get(1));
        assertEquals(absorbed(run, Place.START + 100), outcomes.get(2));
        assertEquals(1, desk().place.count("semel_run"));
    }

    @Test
    default void a_first_trigger_applied_again_is_the_same_fresh_run() {
        for (KeyClaim[] wishes : List.of(new KeyClaim[0], new KeyClaim[] {desk().key("K")})) {
            StoreWrite.AdmitRun admit = desk().gated(desk().id(), quiet("Q" + wishes.length), wishes);
            AdmitResult fresh = assertInstanceOf(AdmitResult.Fresh.class, desk().apply(admit));
            assertEquals(fresh, desk().apply(admit));
        }
        assertEquals(2, desk().place.count("semel_run"));
    }

    @Test
    default void the_key_of_a_trigger_that_was_taken_in_stands_for_the_run_that_took_it() {
        RunId run = first();
        KeyClaim key = desk().key("K");
        KeyClaim payload = desk().payload("P", false);
        StoreWrite.AdmitRun admit = desk().gated(desk().id(), quiet("Q"), key, payload);
        assertEquals(absorbed(run, Place.START + 100), desk().apply(admit));
        for (KeyClaim wish : List.of(key, payload)) {
            KeyRecord known = desk().holder(wish);
            assertNotNull(known);
            assertEquals(run, known.run());
        }
        desk().place.setTime(Place.START + 50);
        KeyRecord again = assertInstanceOf(AdmitResult.KeysHeld.class, desk().apply(admit), "applied again it is a repeat")
                .keyRecords()
                .getFirst();
        assertNotNull(again);
        assertEquals(run, again.run());
        assertEquals(Place.START + 100, desk().work(run).due(), "which does not begin the wait again");
    }

    @Test
    default void a_known_key_is_a_repeat_and_nothing_of_it_is_taken_in() {
        KeyClaim key = desk().key("K");
        RunId other = desk().fresh(key);
        RunId run = first();
        KeyRecord known = assertInstanceOf(AdmitResult.KeysHeld.class, trigger(desk().id(), desk().chosen("mine"), key))
                .keyRecords()
                .get(1);
        assertNotNull(known);
        assertEquals(other, known.run());
        assertEquals("{\"id\":\"" + run + "\"}", desk().runOf(run).input());
        assertNull(desk().holder(desk().chosen("mine")));
    }

    @Test
    default void a_run_in_a_queue_waits_for_quiet_and_for_its_place() {
        var place = new NewRun.StartConditions.QueueLimit("S", 1);
        RunId before = desk().id();
        desk().apply(desk().gated(before, new NewRun.StartConditions(List.of(place), null, 0, null)));
        var both = new NewRun.StartConditions(List.of(place), null, 0, new NewRun.StartConditions.DebounceWindow("Q", 100, 250));
        RunId run = desk().id();
        desk().apply(desk().gated(run, both));
        assertEquals(absorbed(run, Place.START + 100), desk().apply(desk().gated(desk().id(), both)));
        assertEquals(List.of(new RunExecution(before, 1)), desk().claim());
        desk().place.setTime(Place.START + 100);
        assertEquals(List.of(), desk().claim());
        desk().apply(desk().end(before));
        assertEquals(List.of(new RunExecution(run, 1)), desk().claim());
        assertEquals(1, desk().place.count("semel_queue_entry"));
    }
}
