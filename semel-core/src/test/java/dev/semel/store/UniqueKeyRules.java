package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long a name stands for its run, to the microsecond of the store's clock. */
interface UniqueKeyRules {
    TestStoreClient client();

    private AdmitResult ask(RunDeduplicationKeyClaim claim) {
        return client().apply(client().admit(client().id(), claim));
    }

    /** A run with this name that has ended. */
    private RunId ended(RunDeduplicationKeyClaim claim) {
        RunId run = client().fresh(claim);
        client().apply(client().end(run));
        return run;
    }

    @Test
    default void one_microsecond_before_its_window_ends_a_key_is_held() {
        RunDeduplicationKeyClaim key = client().key("K");
        ended(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW - 1);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(key));
    }

    @Test
    default void at_the_end_of_its_window_a_key_is_free() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId first = ended(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        RunId second = client().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(second, key)));
        assertEquals(new StoreWrite.PreviousHolder(first, null, true), fresh.previous());
        assertEquals(second, fresh.lineage(), "after expiry a new lineage begins");
        assertEquals(first, client().runOf(second).previous());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(key));
        assertEquals(second, keyRecord.run());
        assertEquals(StoreFixture.START + TestStoreClient.WINDOW, keyRecord.firstAt());
        assertEquals(StoreFixture.START + 2 * TestStoreClient.WINDOW, keyRecord.expiresAt());
    }

    @Test
    default void one_microsecond_after_its_window_a_key_is_free() {
        RunDeduplicationKeyClaim key = client().key("K");
        ended(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        assertInstanceOf(AdmitResult.Fresh.class, ask(key));
    }

    @Test
    default void an_expired_run_with_a_chosen_id_is_reported_under_that_id() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId first = client().id();
        client().apply(client().admit(
                        client().run(first, dev.semel.run.RunState.STARTED, "mine"),
                        List.of(key, client().chosen("mine")),
                        true));
        client().apply(client().end(first));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, ask(key));
        assertEquals(new StoreWrite.PreviousHolder(first, "mine", true), fresh.previous());
    }

    @Test
    default void the_key_of_an_unfinished_run_does_not_expire() {
        RunDeduplicationKeyClaim key = client().key("K", RunDeduplicationKeyRecord.HOLD);
        RunId run = client().fresh(key);
        client().fixture.setTime(StoreFixture.START + 400 * TestStoreClient.WINDOW);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(key));
        client().apply(client().end(run));
        assertInstanceOf(AdmitResult.Fresh.class, ask(key));
    }

    @Test
    default void without_hold_the_key_of_an_unfinished_run_expires() {
        RunDeduplicationKeyClaim key = client().key("K", 0);
        client().fresh(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW - 1);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(key));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertInstanceOf(AdmitResult.Fresh.class, ask(key));
    }

    @Test
    default void a_chosen_run_id_never_expires() {
        RunDeduplicationKeyClaim chosen = client().chosen("mine");
        ended(chosen);
        client().fixture.setTime(StoreFixture.START + 4_000 * TestStoreClient.WINDOW);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(chosen));
    }

    @Test
    default void a_failed_run_frees_its_key_only_if_declared_and_keeps_the_lineage() {
        RunDeduplicationKeyClaim again =
                client().key("again", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId first = client().fresh(again);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(again), "it has not failed yet");
        client().apply(client().failed(first));
        RunId second = client().id();
        var fresh =
                assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().again(second, first, first, again)));
        assertEquals(new StoreWrite.PreviousHolder(first, null, false), fresh.previous());
        assertEquals(first, fresh.lineage());
        client().apply(client().failed(second));
        RunId third = client().id();
        var last =
                assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().again(third, first, second, again)));
        assertEquals(first, last.lineage(), "the lineage hangs on the first run");
        assertEquals(second, client().runOf(third).previous());

        RunDeduplicationKeyClaim once = client().key("once", RunDeduplicationKeyRecord.HOLD);
        client().apply(client().failed(client().fresh(once)));
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(once));
    }

    @Test
    default void the_key_of_a_failed_run_goes_only_to_its_own_lineage() {
        RunDeduplicationKeyClaim again =
                client().key("again", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId first = client().fresh(again);
        client().apply(client().failed(first));
        RunId stranger = client().fresh();
        NewRun.RunParentage line = new NewRun.RunParentage(first, null, null);
        List<StoreWrite.AdmitRun> others = List.of(
                client().admit(client().id(), again, client().payload("P", true)),
                client().again(client().id(), stranger, first, again),
                client().admit(client().linked(client().id(), line, null, RunState.STARTED), List.of(again), true));
        for (StoreWrite.AdmitRun admit : others) {
            RunDeduplicationKeyRecord keyRecord = assertInstanceOf(
                            AdmitResult.HolderFailed.class, client().apply(admit))
                    .keyRecord();
            assertEquals(first, keyRecord.run());
            assertEquals(RunState.FAILED, keyRecord.state());
            assertNull(client().reads.run(client().ws, admit.run().id()));
        }
        assertNull(client().holder(client().payload("P", true)), "nothing was taken");
        List<Object> both =
                client().decided(client().admit(client().id(), again), client().admit(client().id(), again));
        both.forEach(outcome -> assertInstanceOf(AdmitResult.HolderFailed.class, outcome));
    }

    @Test
    default void of_a_retry_and_a_replay_of_a_failed_run_one_follows_it() {
        RunDeduplicationKeyClaim again =
                client().key("again", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId first = client().fresh(again);
        client().apply(client().failed(first));
        RunDeduplicationKeyClaim next =
                client().claim(RunDeduplicationKey.KeyKind.REPLAY, first.text(), RunDeduplicationKeyRecord.HOLD);
        NewRun.RunParentage links = new NewRun.RunParentage(first, null, first);
        NewRun replay = client().linked(client().id(), links, null, RunState.STARTED);
        assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(replay, List.of(next), true)));
        RunId retry = client().id();
        var held = assertInstanceOf(
                AdmitResult.KeysHeld.class, client().apply(client().again(retry, first, first, again)));
        assertNull(held.keyRecords().getFirst(), "the key itself would be free");
        assertEquals(
                replay.id(),
                assertInstanceOf(
                                RunDeduplicationKeyRecord.class,
                                held.keyRecords().getLast())
                        .run());
        assertNull(client().reads.run(client().ws, retry));
        assertEquals(
                first,
                assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(again))
                        .run());
    }

    @Test
    default void a_completed_run_keeps_its_key_even_if_failed_ones_run_again() {
        RunDeduplicationKeyClaim key =
                client().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        ended(key);
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(key));
    }

    @Test
    default void an_expired_failed_run_starts_a_new_lineage() {
        RunDeduplicationKeyClaim key =
                client().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        client().apply(client().failed(client().fresh(key)));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        RunId second = client().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(second, key)));
        assertEquals(second, fresh.lineage());
        assertTrue(assertInstanceOf(StoreWrite.PreviousHolder.class, fresh.previous())
                .expired());
    }

    @Test
    default void a_released_key_goes_to_the_next_trigger_with_a_new_lineage() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId first = client().fresh(key);
        assertTrue(client().change(
                        new StoreWriteCommand.ReleaseKey(key.key(), first, client().by("op", "the customer called"))));
        RunId second = client().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(second, key)));
        assertEquals(new StoreWrite.PreviousHolder(first, null, false), fresh.previous());
        assertEquals(second, fresh.lineage());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(key));
        assertFalse(keyRecord.has(RunDeduplicationKeyRecord.RELEASED), "the new holder is not released");
        assertInstanceOf(AdmitResult.KeysHeld.class, ask(key));
    }

    @Test
    default void of_many_triggers_that_find_an_expired_key_one_claims_it() {
        RunDeduplicationKeyClaim key = client().key("K");
        ended(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        List<Object> outcomes = client().applyAll(
                        client().admit(client().id(), key),
                        client().admit(client().id(), key),
                        client().admit(client().id(), key));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        assertInstanceOf(AdmitResult.KeysHeld.class, outcomes.get(1));
        assertInstanceOf(AdmitResult.KeysHeld.class, outcomes.get(2));
        assertEquals(2, client().fixture.count("semel_run"));
    }

    @Test
    default void an_expired_payload_under_a_new_key_is_no_expired_key() {
        RunId first = client().fresh(client().key("K1"), client().payload("P", true));
        client().apply(client().end(first));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        RunId second = client().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class,
                client().apply(client().admit(second, client().key("K2"), client().payload("P", true))));
        assertNull(fresh.previous(), "nobody used this key before");
        assertNull(client().runOf(second).previous());
        assertEquals(second, assertNotNullKnown(client().payload("P", true)).run());
    }

    private RunDeduplicationKeyRecord assertNotNullKnown(RunDeduplicationKeyClaim claim) {
        RunDeduplicationKeyRecord keyRecord = client().holder(claim);
        assertNotNull(keyRecord);
        return keyRecord;
    }

    @Test
    default void a_key_lookup_returns_expired_keys_and_the_time() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = ended(key);
        client().fixture.setTime(StoreFixture.START + 2 * TestStoreClient.WINDOW);
        StoreQueries.KeyLookup found =
                client().reads.findKeys(List.of(client().key("unknown").key(), key.key(), key.key()));
        assertEquals(client().fixture.time(), found.now());
        assertNull(found.keyRecords().getFirst());
        assertEquals(
                run,
                assertInstanceOf(
                                RunDeduplicationKeyRecord.class,
                                found.keyRecords().get(1))
                        .run());
        assertEquals(
                run,
                assertInstanceOf(
                                RunDeduplicationKeyRecord.class,
                                found.keyRecords().get(2))
                        .run());
        assertEquals(client().fixture.time(), client().reads.now());
    }

    @Test
    default void keys_sort_as_the_store_sorts_them() {
        String[] texts = {"a", "A", "a\nwf_1", "a b", "~", " ", "a~", "Z", "aa", "0", "a!", "_", "a\nwf_0"};
        for (String text : texts) {
            for (RunDeduplicationKey.KeyKind kind : List.of(
                    RunDeduplicationKey.KeyKind.PAYLOAD,
                    RunDeduplicationKey.KeyKind.KEY,
                    RunDeduplicationKey.KeyKind.WORKFLOW_KEY)) {
                client().apply(client().end(client().fresh(client().claim(kind, text, 0))));
            }
        }
        client().fixture.setTime(StoreFixture.START + 3 * TestStoreClient.WINDOW);
        List<RunDeduplicationKey> stored =
                client().reads.tombstones(null, 1_000, client().fixture.time()).found().stream()
                        .map(StoreWriteCommand.KeyTombstone::key)
                        .toList();
        assertEquals(texts.length * 3, stored.size());
        assertEquals(stored.stream().sorted().toList(), stored);
    }

    @Test
    default void many_keys_of_one_flagged_payload_are_one_transaction() {
        for (boolean held : new boolean[] {false, true}) {
            RunDeduplicationKeyClaim payload = client().payload("P " + held, false);
            RunId holder = held ? client().fresh(payload) : null;
            List<StoreWrite.AdmitRun> batch = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                batch.add(client().admit(client().id(), client().key(held + " " + i), payload));
            }
            List<Object> outcomes = client().applyAll(batch);
            RunId first = holder == null ? batch.getFirst().run().id() : holder;
            for (int i = 0; i < 50; i++) {
                AdmitResult.Fresh fresh = assertInstanceOf(AdmitResult.Fresh.class, outcomes.get(i));
                RunId expected = holder == null && i == 0 ? null : first;
                RunDeduplicationKeyRecord of = fresh.duplicateOf();
                assertEquals(expected, of == null ? null : of.run());
                assertEquals(expected, client().runOf(batch.get(i).run().id()).duplicateOf());
            }
        }
    }

    @Test
    default void many_equal_triggers_of_a_flagged_payload_are_one_transaction() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunDeduplicationKeyClaim payload = client().payload("P", false);
        List<StoreWrite.AdmitRun> batch = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            batch.add(client().admit(client().id(), key, payload));
        }
        List<Object> outcomes = client().applyAll(batch);
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        for (Object outcome : outcomes.subList(1, 50)) {
            AdmitResult.KeysHeld held = assertInstanceOf(AdmitResult.KeysHeld.class, outcome);
            RunDeduplicationKeyRecord byKey = assertInstanceOf(
                    RunDeduplicationKeyRecord.class, held.keyRecords().getFirst());
            assertEquals(batch.getFirst().run().id(), byKey.run());
            assertNull(held.keyRecords().get(1), "a payload that is only flagged stops nobody");
        }
        assertEquals(1, client().fixture.count("semel_run"));
    }

    @Test
    default void a_flagged_payload_whose_first_trigger_was_rejected_goes_to_the_next() {
        client().fresh(client().key("K"));
        RunDeduplicationKeyClaim payload = client().payload("P", false);
        StoreWrite.AdmitRun refused = client().admit(client().id(), client().key("K"), payload);
        StoreWrite.AdmitRun next = client().admit(client().id(), client().key("L"), payload);
        List<Object> outcomes = client().applyAll(refused, next);
        assertInstanceOf(AdmitResult.KeysHeld.class, outcomes.getFirst());
        Object second = outcomes.get(1) instanceof AdmitResult.RetryNextBatch ? client().apply(next) : outcomes.get(1);
        assertNull(assertInstanceOf(AdmitResult.Fresh.class, second).duplicateOf());
        assertEquals(
                next.run().id(),
                assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(payload))
                        .run());
    }
}
