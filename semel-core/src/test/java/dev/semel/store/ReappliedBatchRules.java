package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Applying a batch twice is the same as once: this is how a COMMIT whose answer was lost is resolved. */
interface ReappliedBatchRules {
    TestStoreClient desk();

    @Test
    default void an_admission_applied_again_is_the_same_fresh_run() {
        for (RunDeduplicationKeyClaim[] claims : List.of(
                new RunDeduplicationKeyClaim[0],
                new RunDeduplicationKeyClaim[] {desk().key("K")},
                new RunDeduplicationKeyClaim[] {desk().key("L"), desk().chosen("mine"), desk().payload("P", true)})) {
            StoreWrite.AdmitRun admit = desk().admit(desk().id(), claims);
            AdmitResult first = desk().apply(admit);
            assertEquals(first, desk().apply(admit));
            assertTrue(assertInstanceOf(AdmitResult.Fresh.class, first).owned());
        }
        assertEquals(3, desk().fixture.count("semel_run"));
        assertEquals(3, desk().fixture.count("semel_unfinished_run"));
        assertEquals(4, desk().fixture.count("semel_key"));
    }

    @Test
    default void a_batch_applied_again_decides_its_duplicates_as_before() {
        RunDeduplicationKeyClaim key = desk().key("K");
        List<StoreWrite.AdmitRun> batch = List.of(desk().admit(desk().id(), key), desk().admit(desk().id(), key));
        desk().applyAll(batch);
        List<Object> second = desk().applyAll(batch);
        assertInstanceOf(AdmitResult.Fresh.class, second.getFirst());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, second.get(1))
                .keyRecords()
                .getFirst();
        assertEquals(
                batch.getFirst().run().id(),
                assertInstanceOf(RunDeduplicationKeyRecord.class, keyRecord).run());
        assertEquals(1, desk().fixture.count("semel_run"));
    }

    @Test
    default void a_takeover_of_an_expired_key_applied_again_changes_nothing_more() {
        RunDeduplicationKeyClaim key =
                desk().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId old = desk().fresh(key);
        desk().apply(desk().failed(old));
        StoreWrite.AdmitRun admit = desk().again(desk().id(), old, old, key);
        desk().apply(admit);
        var again = assertInstanceOf(AdmitResult.Fresh.class, desk().apply(admit));
        assertTrue(again.owned());
        assertEquals(old, again.lineage());
        assertEquals(old, desk().runOf(admit.run().id()).previous());
        assertEquals(2, desk().fixture.count("semel_run"));
    }

    @Test
    default void an_admission_applied_again_still_names_the_previous_run() {
        for (String chosen : new String[] {null, "mine"}) {
            RunDeduplicationKeyClaim key = desk().key("K " + chosen);
            RunId old = desk().id();
            desk().apply(desk().admit(desk().run(old, RunState.STARTED, chosen), List.of(key), true));
            desk().apply(desk().end(old));
            desk().change(new StoreWriteCommand.ReleaseKey(key.key(), old, desk().by("op", "why")));
            StoreWrite.AdmitRun admit = desk().admit(desk().id(), key);
            AdmitResult first = desk().apply(admit);
            assertEquals(
                    new StoreWrite.PreviousHolder(old, chosen, false),
                    assertInstanceOf(AdmitResult.Fresh.class, first).previous());
            assertEquals(first, desk().apply(admit));
        }
    }

    @Test
    default void an_admission_applied_again_after_its_run_ended_restarts_nothing() {
        StoreWrite.AdmitRun keyed = desk().admit(desk().id(), desk().key("K"));
        StoreWrite.AdmitRun admitRun = desk().admit(desk().id());
        desk().applyAll(keyed, admitRun);
        desk().applyAll(desk().end(keyed.run().id()), desk().end(admitRun.run().id()));
        for (Object outcome : desk().applyAll(keyed, admitRun)) {
            assertFalse(assertInstanceOf(AdmitResult.Fresh.class, outcome).owned());
        }
        assertEquals(0, desk().fixture.count("semel_unfinished_run"));
        assertEquals(2, desk().fixture.count("semel_finished_run"));
    }

    @Test
    default void an_admission_applied_again_under_a_later_lease_owns_nothing() {
        StoreWrite.AdmitRun admit = desk().admit(desk().id(), desk().key("K"));
        desk().apply(admit);
        desk().leases.end(TestStoreClient.LEASE);
        desk().leases.start(78, "desk", desk().slots(), TestStoreClient.TTL);
        AdmitResult again = desk().applyAs(new CommitBatch.LeaseSlot(78, 0), admit);
        assertFalse(assertInstanceOf(AdmitResult.Fresh.class, again).owned());
        assertEquals(
                List.of(admit.run().id()),
                TestStoreClient.runs(desk().applyAs(new CommitBatch.LeaseSlot(78, 0), new StoreWrite.ClaimRuns(5))));
    }

    @Test
    default void an_append_applied_again_is_one_chunk() {
        RunId run = desk().fresh();
        StoreWrite.AppendJournal append = desk().append(run, 0, "[1]");
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(append));
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(append));
        assertEquals(List.of("[1]"), desk().journal(run));
    }

    @Test
    default void an_end_applied_again_is_the_same_end() {
        RunId run = desk().fresh();
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(desk().end(run)));
        DatabaseRows.RunRow ended = desk().runOf(run);
        desk().fixture.advance(Duration.ofSeconds(1));
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(desk().end(run)));
        assertEquals(ended, desk().runOf(run));
    }

    @Test
    default void a_batch_of_append_and_end_applied_again_is_recorded() {
        RunId run = desk().fresh();
        List<StoreWrite<?>> batch = List.of(desk().append(run, 0, "[1]"), desk().end(run));
        assertEquals(List.of(OwnerWriteResult.RECORDED, OwnerWriteResult.RECORDED), desk().applyAll(batch));
        assertEquals(OwnerWriteResult.RECORDED, desk().applyAll(batch).get(1), "the end is on record");
        assertEquals(List.of("[1]"), desk().journal(run));
        assertEquals(1, desk().fixture.count("semel_finished_run"));
    }

    @Test
    default void duplicate_counts_applied_again_count_once() {
        RunId run = desk().fresh(desk().key("K"));
        StoreWrite.RecordDuplicates tally = new StoreWrite.RecordDuplicates(
                List.of(desk().seen(run, false, 1), desk().seen(run, false, 700), desk().seen(run, true, 1)));
        desk().apply(tally);
        desk().apply(tally);
        assertEquals(
                new DatabaseRows.DuplicateCounts(701, 1, desk().fixture.time()),
                desk().runOf(run).counts());
        assertEquals(3, desk().fixture.count("semel_duplicate_request"));
    }

    @Test
    default void duplicate_counts_applied_again_with_new_rows_count_only_those() {
        RunId run = desk().fresh(desk().key("K"));
        StoreWrite.DuplicateRequest first = desk().seen(run, false, 5);
        desk().apply(new StoreWrite.RecordDuplicates(List.of(first)));
        desk().apply(new StoreWrite.RecordDuplicates(List.of(first, desk().seen(run, false, 3))));
        assertEquals(8, desk().runOf(run).counts().replays());
    }

    @Test
    default void a_claim_applied_again_takes_the_next_runs_and_loses_none() {
        RunId one = desk().id();
        RunId two = desk().id();
        desk().applyAll(
                        desk().admit(desk().run(one), List.of(), false),
                        desk().admit(desk().run(two), List.of(), false));
        assertEquals(List.of(one), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(List.of(two), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(List.of(), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(1, TestStoreClient.claims(desk().runOf(one)));
    }

    @Test
    default void commands_applied_again_change_nothing_more() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        var token = new DatabaseRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        List<StoreWriteCommand<?>> edits = List.of(
                new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("x")),
                new StoreWriteCommand.PublishVersion(desk().ws, "two", "wf_two", "text", "tester"),
                new StoreWriteCommand.PublishIfUnchanged(
                        new StoreWriteCommand.PublishVersion(desk().ws, "two", "wf_two", "text 2", "tester"),
                        null,
                        new StoreWriteCommand.VersionsInForce(1, 0)),
                new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true),
                new StoreWriteCommand.CreateToken(token),
                new StoreWriteCommand.RevokeToken(desk().ws, "tok_1", "op"),
                new StoreWriteCommand.ReleaseKey(key.key(), run, desk().by("op", "why")));
        for (StoreWriteCommand<?> edit : edits) {
            desk().change(edit);
            desk().change(edit);
        }
        assertEquals(2, desk().fixture.count("semel_workspace"));
        assertEquals(3, desk().fixture.count("semel_workflow_version"));
        assertEquals(1, desk().fixture.count("semel_token"));
        assertEquals(2, desk().fixture.count("semel_audit"), "one for the token, one for the key");
        assertTrue(assertInstanceOf(DatabaseRows.WorkflowRow.class, desk().reads.workflow(desk().ws, "one"))
                .paused());
        assertNotNull(desk().holder(key));
    }
}
