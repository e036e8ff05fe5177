package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
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
import dev.semel.trigger.TriggerSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A trigger takes its names and makes its run in one transaction, or tells who holds them. */
interface AdmissionWriteRules {
    TestStoreClient desk();

    private static RunDeduplicationKeyRecord heldBy(@Nullable RunDeduplicationKeyRecord keyRecord) {
        return assertInstanceOf(RunDeduplicationKeyRecord.class, keyRecord);
    }

    @Test
    default void a_trigger_without_keys_creates_a_run() {
        RunId id = desk().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, desk().apply(desk().admit(id)));
        assertTrue(fresh.owned());
        assertEquals(id, fresh.lineage());
        assertEquals(desk().fixture.time(), fresh.now());
        assertNull(fresh.previous());
        assertNull(fresh.duplicateOf());
        DatabaseRows.RunRow run = desk().runOf(id);
        assertEquals(RunState.STARTED, run.state());
        assertEquals("{\"a\":1}", run.input());
        assertEquals(new NewRun.TriggerOrigin(TriggerSource.HTTP, "actor", "the key", "the correlation"), run.origin());
        assertEquals(id, run.lineage());
        assertEquals(desk().fixture.time(), run.createdAt());
        assertEquals(1, TestStoreClient.claims(run));
        assertNull(run.end());
        assertEquals(0, desk().fixture.count("semel_key"));
    }

    @Test
    default void a_held_key_returns_its_run_and_creates_none() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId first = desk().fresh(key);
        AdmitResult second = desk().apply(desk().admit(desk().id(), key));
        RunDeduplicationKeyRecord keyRecord = heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, second)
                .keyRecords()
                .getFirst());
        assertEquals(first, keyRecord.run());
        assertEquals(TestStoreClient.WORKFLOW, keyRecord.workflowId());
        assertEquals(1, keyRecord.version());
        assertEquals(RunState.STARTED, keyRecord.state());
        assertEquals(first, keyRecord.lineage());
        assertEquals(RunDeduplicationKeyRecord.HOLD, keyRecord.flags());
        assertEquals(desk().fixture.time(), keyRecord.firstAt());
        assertEquals(desk().fixture.time() + TestStoreClient.WINDOW, keyRecord.expiresAt());
        assertArrayEquals(TestStoreClient.bytes("digest"), keyRecord.digest());
        assertArrayEquals(TestStoreClient.bytes("fields"), keyRecord.fields());
        assertEquals(1, desk().fixture.count("semel_run"));
        assertEquals(1, desk().fixture.count("semel_unfinished_run"));
    }

    @Test
    default void of_64_equal_triggers_in_one_batch_one_is_fresh_and_63_get_its_run() {
        RunDeduplicationKeyClaim key = desk().key("hot");
        List<StoreWrite.AdmitRun> batch = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            batch.add(desk().admit(desk().id(), key));
        }
        List<Object> outcomes = desk().applyAll(batch);
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
        assertEquals(1, desk().fixture.count("semel_run"));
        assertEquals(1, desk().fixture.count("semel_key"));
    }

    @Test
    default void equal_triggers_in_one_batch_with_a_held_key_all_get_its_run() {
        RunDeduplicationKeyClaim key = desk().key("known");
        RunId first = desk().fresh(key);
        List<Object> outcomes = desk().applyAll(
                        desk().admit(desk().id(), key), desk().admit(desk().id(), key), desk().admit(desk().id(), key));
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
        RunDeduplicationKeyClaim shared = desk().key("shared");
        StoreWrite.AdmitRun first = desk().admit(desk().id(), shared, desk().chosen("r1"));
        StoreWrite.AdmitRun second = desk().admit(desk().id(), shared, desk().chosen("r2"));
        StoreWrite.AdmitRun third = desk().admit(desk().id(), desk().key("other"), desk().chosen("r1"));
        List<Object> outcomes = desk().applyAll(first, second, third);
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
        assertEquals(2, desk().fixture.count("semel_key"), "a refusal leaves no name behind");
    }

    /** As a lane does: what the batch could not decide goes into the next transaction. */
    private AdmitResult again(StoreWrite.AdmitRun admit, Object outcome) {
        return outcome instanceof AdmitResult.RetryNextBatch
                ? desk().apply(admit)
                : assertInstanceOf(AdmitResult.class, outcome);
    }

    @Test
    default void a_rejection_stores_no_row_in_any_order_of_the_keys() {
        RunId holder = desk().fresh(desk().chosen("taken"));
        AdmitResult refused = desk().apply(desk().admit(desk().id(), desk().key("a"), desk().chosen("taken")));
        var held = assertInstanceOf(AdmitResult.KeysHeld.class, refused);
        assertNull(held.keyRecords().getFirst());
        assertEquals(holder, heldBy(held.keyRecords().get(1)).run());
        assertEquals(1, desk().fixture.count("semel_key"));
        assertEquals(1, desk().fixture.count("semel_run"));
        assertNull(desk().holder(desk().key("a")));
        desk().fresh(desk().key("a"));
    }

    @Test
    default void a_rejection_claims_no_free_key() {
        RunDeduplicationKeyClaim old = desk().key("old");
        RunId first = desk().fresh(old);
        desk().apply(desk().end(first));
        RunId blocker = desk().fresh(desk().chosen("taken"));
        desk().fixture.setTime(desk().fixture.time() + TestStoreClient.WINDOW);
        AdmitResult refused = desk().apply(desk().admit(desk().id(), old, desk().chosen("taken")));
        var held = assertInstanceOf(AdmitResult.KeysHeld.class, refused);
        assertNull(held.keyRecords().getFirst());
        assertEquals(blocker, heldBy(held.keyRecords().get(1)).run());
        assertEquals(first, heldBy(desk().holder(old)).run(), "the tombstone is as it was");
    }

    @Test
    default void key_run_id_and_payload_are_claimed_together() {
        RunId id = desk().id();
        RunDeduplicationKeyClaim[] claims = {desk().key("K"), desk().chosen("mine"), desk().payload("P", true)};
        desk().apply(desk().admit(desk().run(id, RunState.STARTED, "mine"), List.of(claims), true));
        for (RunDeduplicationKeyClaim claim : claims) {
            RunDeduplicationKeyRecord keyRecord = heldBy(desk().holder(claim));
            assertEquals(id, keyRecord.run());
            assertEquals("mine", keyRecord.chosenRunId());
            assertEquals("mine", keyRecord.runIdText());
        }
        assertEquals(
                RunDeduplicationKeyClaim.FOREVER,
                heldBy(desk().holder(desk().chosen("mine"))).expiresAt());
        AdmitResult other = desk().apply(desk().admit(desk().id(), desk().key("L"), desk().payload("P", true)));
        assertEquals(
                id,
                heldBy(assertInstanceOf(AdmitResult.KeysHeld.class, other)
                                .keyRecords()
                                .get(1))
                        .run());
        assertEquals(3, desk().fixture.count("semel_key"));
    }

    @Test
    default void a_payload_without_uniqueness_is_only_reported_as_duplicate() {
        RunId first = desk().fresh(desk().key("K1"), desk().payload("P", false));
        RunId id = desk().id();
        AdmitResult second = desk().apply(desk().admit(id, desk().key("K2"), desk().payload("P", false)));
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, second);
        assertEquals(first, heldBy(fresh.duplicateOf()).run());
        assertEquals(first, desk().runOf(id).duplicateOf());
        assertNull(fresh.previous());
        assertEquals(id, fresh.lineage());
        assertEquals(first, heldBy(desk().holder(desk().payload("P", false))).run());
    }

    @Test
    default void kinds_of_keys_never_collide() {
        for (RunDeduplicationKey.KeyKind kind : RunDeduplicationKey.KeyKind.values()) {
            desk().fresh(desk().wish(kind, "same text", RunDeduplicationKeyRecord.HOLD));
        }
        assertEquals(RunDeduplicationKey.KeyKind.values().length, desk().fixture.count("semel_run"));
    }

    @Test
    default void keys_are_compared_byte_by_byte() {
        for (String key : List.of("k", "K", " k", "k ", "k k", "k  k", "~", "k%", "k_", "K'")) {
            desk().fresh(desk().key(key));
        }
        assertEquals(10, desk().fixture.count("semel_run"));
    }

    @Test
    default void a_worker_without_capacity_leaves_the_run_to_be_claimed() {
        RunId id = desk().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class, desk().apply(desk().admit(desk().run(id), List.of(desk().key("K")), false)));
        assertFalse(fresh.owned());
        assertEquals(0, TestStoreClient.claims(desk().runOf(id)));
        assertTrue(desk().freeWork());
        assertEquals(List.of(id), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(10))));
    }

    @Test
    default void a_worker_without_a_lease_admits_but_owns_nothing() {
        RunId id = desk().id();
        var fresh = assertInstanceOf(AdmitResult.Fresh.class, desk().applyAs(null, desk().admit(id, desk().key("K"))));
        assertFalse(fresh.owned());
        assertEquals(List.of(), TestStoreClient.runs(desk().applyAs(null, new StoreWrite.ClaimRuns(10))));
        assertEquals(List.of(id), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(10))));
    }

    @Test
    default void a_queued_run_is_held_and_cannot_be_claimed() {
        RunId id = desk().id();
        var fresh = assertInstanceOf(
                AdmitResult.Fresh.class,
                desk().apply(desk().admit(desk().run(id, RunState.QUEUED, null), List.of(), true)));
        assertFalse(fresh.owned());
        assertEquals(RunState.QUEUED, desk().runOf(id).state());
        assertFalse(desk().freeWork());
        assertEquals(List.of(), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(10))));
        assertEquals(1, desk().reads.countUnfinished());
    }

    @Test
    default void one_batch_may_hold_owned_free_and_queued_runs() {
        RunId own = desk().id();
        RunId free = desk().id();
        RunId queued = desk().id();
        List<Object> outcomes = desk().applyAll(
                        desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(desk().key("q")), true),
                        desk().admit(desk().run(free), List.of(desk().key("f")), false),
                        desk().admit(desk().run(own), List.of(desk().key("o")), true));
        assertEquals(
                List.of(false, false, true),
                outcomes.stream()
                        .map(o -> assertInstanceOf(AdmitResult.Fresh.class, o).owned())
                        .toList());
        assertEquals(List.of(free), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(10))));
        assertNotNull(desk().reads.run(desk().ws, queued));
    }
}
