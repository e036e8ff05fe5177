package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerSource;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A trigger takes its names and makes its run in one transaction, or tells who holds them. */
interface AdmissionWriteRules {
    TestStoreClient client();

    private static RunDeduplicationKeyRecord heldBy(@Nullable RunDeduplicationKeyRecord keyRecord) {
        return assertInstanceOf(RunDeduplicationKeyRecord.class, keyRecord);
    }

    @Test
    default void a_trigger_without_keys_creates_a_run() {
        RunId id = client().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(id)));
        assertTrue(fresh.owned());
        assertEquals(id, fresh.lineage());
        assertEquals(client().fixture.time(), fresh.now());
        assertNull(fresh.previous());
        assertNull(fresh.duplicateOf());
        DatabaseRows.RunRow run = client().runOf(id);
        assertEquals(RunState.STARTED, run.state());
        assertEquals("{\"a\":1}", run.input());
        assertEquals(new NewRun.TriggerOrigin(TriggerSource.HTTP, "actor", "the key", "the correlation"), run.origin());
        assertEquals(id, run.lineage());
        assertEquals(client().fixture.time(), run.createdAt());
        assertEquals(1, TestStoreClient.claims(run));
        assertNull(run.end());
        assertEquals(0, client().fixture.count("semel_key"));
    }

    @Test
    default void a_held_key_returns_its_run_and_creates_none() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId first = client().fresh(key);
        AdmitResult second = client().apply(client().admit(client().id(), key));
        RunDeduplicationKeyRecord keyRecord = heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, second)
                .keyRecords()
                .getFirst());
        assertEquals(first, keyRecord.run());
        assertEquals(TestStoreClient.WORKFLOW, keyRecord.workflowId());
        assertEquals(1, keyRecord.version());
        assertEquals(RunState.STARTED, keyRecord.state());
        assertEquals(first, keyRecord.lineage());
        assertEquals(RunDeduplicationKeyRecord.HOLD, keyRecord.flags());
        assertEquals(client().fixture.time(), keyRecord.firstAt());
        assertEquals(client().fixture.time() + TestStoreClient.WINDOW, keyRecord.expiresAt());
        assertArrayEquals(TestStoreClient.bytes("digest"), keyRecord.digest());
        assertArrayEquals(TestStoreClient.bytes("fields"), keyRecord.fields());
        assertEquals(1, client().fixture.count("semel_run"));
        assertEquals(1, client().fixture.count("semel_unfinished_run"));
    }

    @Test
    default void of_64_equal_triggers_in_one_batch_one_is_fresh_and_63_get_its_run() {
        RunDeduplicationKeyClaim key = client().key("hot");
        List<StoreWrite.AdmitRun> batch = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            batch.add(client().admit(client().id(), key));
        }
        List<Object> outcomes = client().applyAll(batch);
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        RunId winner = batch.getFirst().run().id();
        for (Object outcome : outcomes.subList(1, 64)) {
            assertEquals(
                    winner,
                    heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, outcome)
                                    .keyRecords()
                                    .getFirst())
                            .run());
        }
        assertEquals(1, client().fixture.count("semel_run"));
        assertEquals(1, client().fixture.count("semel_key"));
    }

    @Test
    default void equal_triggers_in_one_batch_with_a_held_key_all_get_its_run() {
        RunDeduplicationKeyClaim key = client().key("known");
        RunId first = client().fresh(key);
        List<Object> outcomes = client().applyAll(
                        client().admit(client().id(), key),
                        client().admit(client().id(), key),
                        client().admit(client().id(), key));
        for (Object outcome : outcomes) {
            assertEquals(
                    first,
                    heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, outcome)
                                    .keyRecords()
                                    .getFirst())
                            .run());
        }
    }

    @Test
    default void triggers_that_share_only_some_keys_are_each_decided() {
        RunDeduplicationKeyClaim shared = client().key("shared");
        StoreWrite.AdmitRun first = client().admit(client().id(), shared, client().chosen("r1"));
        StoreWrite.AdmitRun second = client().admit(client().id(), shared, client().chosen("r2"));
        StoreWrite.AdmitRun third = client().admit(client().id(), client().key("other"), client().chosen("r1"));
        List<Object> outcomes = client().applyAll(first, second, third);
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.getFirst());
        AdmitResult second2 = again(second, outcomes.get(1));
        AdmitResult third2 = again(third, outcomes.get(2));
        RunId winner = first.run().id();
        assertEquals(
                winner,
                heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, second2)
                                .keyRecords()
                                .getFirst())
                        .run());
        assertNull(assertInstanceOf(AdmitResult.KeysHeld.class, second2)
                .keyRecords()
                .get(1));
        assertNull(assertInstanceOf(AdmitResult.KeysHeld.class, third2)
                .keyRecords()
                .getFirst());
        assertEquals(
                winner,
                heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, third2)
                                .keyRecords()
                                .get(1))
                        .run());
        assertEquals(2, client().fixture.count("semel_key"), "a refusal leaves no name behind");
    }

    /** As a lane does: what the batch could not decide goes into the next transaction. */
    private AdmitResult again(StoreWrite.AdmitRun admit, Object outcome) {
        return outcome instanceof AdmitResult.RetryNextBatch
                ? client().apply(admit)
                : assertInstanceOf(AdmitResult.class, outcome);
    }

    @Test
    default void a_rejection_stores_no_row_in_any_order_of_the_keys() {
        RunId holder = client().fresh(client().chosen("taken"));
        AdmitResult refused =
                client().apply(client().admit(client().id(), client().key("a"), client().chosen("taken")));
        var held = assertInstanceOf(AdmitResult.KeysHeld.class, refused);
        assertNull(held.keyRecords().getFirst());
        assertEquals(holder, heldBy(held.keyRecords().get(1)).run());
        assertEquals(1, client().fixture.count("semel_key"));
        assertEquals(1, client().fixture.count("semel_run"));
        assertNull(client().holder(client().key("a")));
        client().fresh(client().key("a"));
    }

    @Test
    default void a_rejection_claims_no_free_key() {
        RunDeduplicationKeyClaim old = client().key("old");
        RunId first = client().fresh(old);
        client().apply(client().end(first));
        RunId blocker = client().fresh(client().chosen("taken"));
        client().fixture.setTime(client().fixture.time() + TestStoreClient.WINDOW);
        AdmitResult refused = client().apply(client().admit(client().id(), old, client().chosen("taken")));
        var held = assertInstanceOf(AdmitResult.KeysHeld.class, refused);
        assertNull(held.keyRecords().getFirst());
        assertEquals(blocker, heldBy(held.keyRecords().get(1)).run());
        assertEquals(first, heldBy(client().holder(old)).run(), "the tombstone is as it was");
    }

    @Test
    default void key_run_id_and_payload_are_claimed_together() {
        RunId id = client().id();
        RunDeduplicationKeyClaim[] claims = {client().key("K"), client().chosen("mine"), client().payload("P", true)};
        client().apply(client().admit(client().run(id, RunState.STARTED, "mine"), List.of(claims), true));
        for (RunDeduplicationKeyClaim claim : claims) {
            RunDeduplicationKeyRecord keyRecord = heldBy(client().holder(claim));
            assertEquals(id, keyRecord.run());
            assertEquals("mine", keyRecord.chosenRunId());
            assertEquals("mine", keyRecord.runIdText());
        }
        assertEquals(
                RunDeduplicationKeyClaim.FOREVER,
                heldBy(client().holder(client().chosen("mine"))).expiresAt());
        AdmitResult other =
                client().apply(client().admit(client().id(), client().key("L"), client().payload("P", true)));
        assertEquals(
                id,
                heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, other)
                                .keyRecords()
                                .get(1))
                        .run());
        assertEquals(3, client().fixture.count("semel_key"));
    }

    @Test
    default void a_payload_without_uniqueness_is_only_reported_as_duplicate() {
        RunId first = client().fresh(client().key("K1"), client().payload("P", false));
        RunId id = client().id();
        AdmitResult second = client().apply(client().admit(id, client().key("K2"), client().payload("P", false)));
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, second);
        assertEquals(first, heldBy(fresh.duplicateOf()).run());
        assertEquals(first, client().runOf(id).duplicateOf());
        assertNull(fresh.previous());
        assertEquals(id, fresh.lineage());
        assertEquals(
                first, heldBy(client().holder(client().payload("P", false))).run());
    }

    @Test
    default void kinds_of_keys_never_collide() {
        for (RunDeduplicationKey.KeyKind kind : RunDeduplicationKey.KeyKind.values()) {
            client().fresh(client().claim(kind, "same text", RunDeduplicationKeyRecord.HOLD));
        }
        assertEquals(
                RunDeduplicationKey.KeyKind.values().length, client().fixture.count("semel_run"));
    }

    @Test
    default void keys_are_compared_byte_by_byte() {
        for (String key : List.of("k", "K", " k", "k ", "k k", "k  k", "~", "k%", "k_", "K'")) {
            client().fresh(client().key(key));
        }
        assertEquals(10, client().fixture.count("semel_run"));
    }

    @Test
    default void a_worker_without_capacity_leaves_the_run_to_be_claimed() {
        RunId id = client().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class,
                client().apply(client().admit(client().run(id), List.of(client().key("K")), false)));
        assertFalse(fresh.owned());
        assertEquals(0, TestStoreClient.claims(client().runOf(id)));
        assertTrue(client().freeWork());
        assertEquals(List.of(id), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(10))));
    }

    @Test
    default void a_worker_without_a_lease_admits_but_owns_nothing() {
        RunId id = client().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class, client().applyAs(null, client().admit(id, client().key("K"))));
        assertFalse(fresh.owned());
        assertEquals(List.of(), TestStoreClient.runs(client().applyAs(null, new StoreWrite.ClaimRuns(10))));
        assertEquals(List.of(id), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(10))));
    }

    @Test
    default void a_queued_run_is_held_and_cannot_be_claimed() {
        RunId id = client().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class,
                client().apply(client().admit(client().run(id, RunState.QUEUED, null), List.of(), true)));
        assertFalse(fresh.owned());
        assertEquals(RunState.QUEUED, client().runOf(id).state());
        assertFalse(client().freeWork());
        assertEquals(List.of(), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(10))));
        assertEquals(1, client().reads.countUnfinished());
    }

    @Test
    default void one_batch_may_hold_owned_free_and_queued_runs() {
        RunId own = client().id();
        RunId free = client().id();
        RunId queued = client().id();
        List<Object> outcomes = client().applyAll(
                        client().admit(client().run(queued, RunState.QUEUED, null), List.of(client().key("q")), true),
                        client().admit(client().run(free), List.of(client().key("f")), false),
                        client().admit(client().run(own), List.of(client().key("o")), true));
        assertEquals(
                List.of(false, false, true),
                outcomes.stream()
                        .map(o -> assertInstanceOf(AdmitResult.Fresh.class, o).owned())
                        .toList());
        assertEquals(List.of(free), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(10))));
        assertNotNull(client().reads.run(client().ws, queued));
    }
}
