package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

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

/** Triggers of one name that come close together are one run, with the newest input. */
interface DebounceRules {
    TestStoreClient client();

    private static StartConditions quiet(String name) {
        return new StartConditions(List.of(), null, 0, new StartConditions.DebounceWindow(name, 100, 250));
    }

    private AdmitResult trigger(RunId id, RunDeduplicationKeyClaim... claims) {
        return client().apply(client().gated(id, quiet("Q"), claims));
    }

    private RunId first() {
        RunId run = client().id();
        assertFalse(assertInstanceOf(AdmitResult.Fresh.class, trigger(run)).owned());
        return run;
    }

    private AdmitResult absorbed(RunId run, long due) {
        return new AdmitResult.Debounced(client().fixture.time(), run, null, due);
    }

    @Test
    default void the_first_trigger_starts_the_debounce_window() {
        RunId run = first();
        assertEquals(RunState.QUEUED, client().runOf(run).state());
        assertEquals(StoreFixture.START + 100, client().work(run).due());
        client().fixture.setTime(StoreFixture.START + 99);
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
    }

    @Test
    default void a_later_trigger_is_debounced_and_its_input_replaces_the_older() {
        RunId run = first();
        client().fixture.setTime(StoreFixture.START + 60);
        RunId second = client().id();
        assertEquals(absorbed(run, StoreFixture.START + 160), trigger(second));
        assertEquals("{\"id\":\"" + second + "\"}", client().runOf(run).input());
        assertNull(client().reads.run(client().ws, second), "it makes no run of its own");
        assertEquals(1, client().fixture.count("semel_run"));
        client().fixture.setTime(StoreFixture.START + 159);
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 160);
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
    }

    @Test
    default void the_debounce_window_has_a_maximum() {
        RunId run = first();
        for (long at = 90; at <= 240; at += 50) {
            client().fixture.setTime(StoreFixture.START + at);
            assertEquals(absorbed(run, StoreFixture.START + Math.min(at + 100, 250)), trigger(client().id()));
        }
        client().fixture.setTime(StoreFixture.START + 250);
        RunId next = client().id();
        assertInstanceOf(AdmitResult.Fresh.class, trigger(next), "its time has come: the next trigger is another run");
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
        assertEquals(StoreFixture.START + 350, client().work(next).due());
    }

    @Test
    default void a_trigger_after_the_start_is_another_run() {
        RunId run = first();
        client().fixture.setTime(StoreFixture.START + 100);
        client().claim();
        RunId next = client().id();
        assertInstanceOf(AdmitResult.Fresh.class, trigger(next));
        client().apply(client().end(run));
        assertEquals(absorbed(next, StoreFixture.START + 200), trigger(client().id()));
    }

    @Test
    default void a_run_to_be_cancelled_absorbs_no_trigger() {
        RunId run = first();
        client().change(new StoreWriteCommand.CancelRun(client().ws, run, "op", "why"));
        assertInstanceOf(AdmitResult.Fresh.class, trigger(client().id()));
    }

    @Test
    default void other_debounce_keys_are_independent() {
        first();
        assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().gated(client().id(), quiet("other"))));
        assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(client().id())));
    }

    @Test
    default void triggers_with_one_debounce_key_in_one_batch_are_one_run() {
        RunId run = client().id();
        List<Object> outcomes = client().decided(
                        client().gated(run, quiet("Q")),
                        client().gated(client().id(), quiet("Q")),
                        client().gated(client().id(), quiet("Q"), client().key("K")));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        assertEquals(absorbed(run, StoreFixture.START + 100), outcomes.get(1));
        assertEquals(absorbed(run, StoreFixture.START + 100), outcomes.get(2));
        assertEquals(1, client().fixture.count("semel_run"));
    }

    @Test
    default void a_burst_of_any_size_is_decided_in_the_same_number_of_transactions() {
        int few = transactions("few", 20, 20);
        assertEquals(few, transactions("many", 80, 80));
        assertEquals(transactions("few repeats", 20, 4), transactions("many repeats", 80, 4));
        assertEquals(4, client().fixture.count("semel_run"));
    }

    /** Applies triggers with so many different keys until each is decided, as a lane does. */
    private int transactions(String name, int triggers, int keys) {
        List<StoreWrite.AdmitRun> open = new ArrayList<>();
        for (int i = 0; i < triggers; i++) {
            open.add(client().gated(client().id(), quiet(name), client().key(name + i % keys)));
        }
        RunId newest = null;
        int transactions = 0;
        while (!open.isEmpty()) {
            List<Object> outcomes = client().applyAll(open);
            List<StoreWrite.AdmitRun> undecided = new ArrayList<>();
            for (int i = 0; i < outcomes.size(); i++) {
                if (outcomes.get(i) instanceof AdmitResult.RetryNextBatch) {
                    undecided.add(open.get(i));
                } else if (outcomes.get(i) instanceof AdmitResult.Debounced) {
                    newest = open.get(i).run().id();
                }
            }
            open = undecided;
            transactions++;
        }
        assertNotNull(newest);
        RunDeduplicationKeyRecord holder = client().holder(client().key(name + 0));
        assertNotNull(holder);
        assertEquals("{\"id\":\"" + newest + "\"}", client().runOf(holder.run()).input(), "the newest input");
        return transactions;
    }

    @Test
    default void a_first_trigger_applied_again_is_the_same_fresh_run() {
        for (RunDeduplicationKeyClaim[] claims :
                List.of(new RunDeduplicationKeyClaim[0], new RunDeduplicationKeyClaim[] {client().key("K")})) {
            StoreWrite.AdmitRun admit = client().gated(client().id(), quiet("Q" + claims.length), claims);
            AdmitResult fresh = assertInstanceOf(AdmitResult.Fresh.class, client().apply(admit));
            assertEquals(fresh, client().apply(admit));
        }
        assertEquals(2, client().fixture.count("semel_run"));
    }

    @Test
    default void the_key_of_a_debounced_trigger_belongs_to_the_run_that_absorbed_it() {
        RunId run = first();
        RunDeduplicationKeyClaim key = client().key("K");
        RunDeduplicationKeyClaim payload = client().payload("P", false);
        StoreWrite.AdmitRun admit = client().gated(client().id(), quiet("Q"), key, payload);
        assertEquals(absorbed(run, StoreFixture.START + 100), client().apply(admit));
        for (RunDeduplicationKeyClaim claim : List.of(key, payload)) {
            RunDeduplicationKeyRecord keyRecord = client().holder(claim);
            assertNotNull(keyRecord);
            assertEquals(run, keyRecord.run());
        }
        client().fixture.setTime(StoreFixture.START + 50);
        RunDeduplicationKeyRecord again = assertInstanceOf(
                        AdmitResult.KeysHeld.class, client().apply(admit), "applied again it is a repeat")
                .keyRecords()
                .getFirst();
        assertNotNull(again);
        assertEquals(run, again.run());
        assertEquals(StoreFixture.START + 100, client().work(run).due(), "which does not begin the wait again");
    }

    @Test
    default void a_trigger_with_an_expired_key_is_debounced_and_the_key_moves_to_the_waiting_run() {
        for (RunDeduplicationKeyClaim key : List.of(client().key("K"), client().key("L"))) {
            RunId old = client().fresh(key);
            client().apply(client().end(old));
        }
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        RunId run = first();
        StoreWrite.AdmitRun admit = client().gated(client().id(), quiet("Q"), client().key("K"), client().key("L"));
        assertEquals(absorbed(run, client().fixture.time() + 100), client().apply(admit));
        for (RunDeduplicationKeyClaim key : List.of(client().key("K"), client().key("L"))) {
            RunDeduplicationKeyRecord holder = client().holder(key);
            assertNotNull(holder);
            assertEquals(run, holder.run());
        }
        assertEquals(3, client().fixture.count("semel_run"), "one run in one quiet period");
        assertInstanceOf(AdmitResult.KeysHeld.class, client().apply(admit), "applied again it is a repeat");
    }

    @Test
    default void a_known_key_is_a_repeat_and_is_not_debounced() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId other = client().fresh(key);
        RunId run = first();
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(
                        AdmitResult.KeysHeld.class, trigger(client().id(), client().chosen("mine"), key))
                .keyRecords()
                .get(1);
        assertNotNull(keyRecord);
        assertEquals(other, keyRecord.run());
        assertEquals("{\"id\":\"" + run + "\"}", client().runOf(run).input());
        assertNull(client().holder(client().chosen("mine")));
    }

    @Test
    default void a_queued_run_waits_for_its_debounce_window_and_its_slot() {
        var queueLimit = new StartConditions.QueueLimit("S", 1);
        RunId before = client().id();
        client().apply(client().gated(before, new StartConditions(List.of(queueLimit), null, 0, null)));
        var both = new StartConditions(List.of(queueLimit), null, 0, new StartConditions.DebounceWindow("Q", 100, 250));
        RunId run = client().id();
        client().apply(client().gated(run, both));
        assertEquals(absorbed(run, StoreFixture.START + 100), client().apply(client().gated(client().id(), both)));
        assertEquals(List.of(new RunExecution(before, 1)), client().claim());
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(), client().claim());
        client().apply(client().end(before));
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
        assertEquals(1, client().fixture.count("semel_queue_entry"));
    }
}
