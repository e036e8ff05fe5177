package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
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
    TestStoreClient client();

    @Test
    default void an_admission_applied_again_is_the_same_fresh_run() {
        for (RunDeduplicationKeyClaim[] claims : List.of(
                new RunDeduplicationKeyClaim[0],
                new RunDeduplicationKeyClaim[] {client().key("K")},
                new RunDeduplicationKeyClaim[] {client().key("L"), client().chosen("mine"), client().payload("P", true)
                })) {
            StoreWrite.AdmitRun admit = client().admit(client().id(), claims);
            AdmitResult first = client().apply(admit);
            assertEquals(first, client().apply(admit));
            assertTrue(assertInstanceOf(AdmitResult.Fresh.class, first).owned());
        }
        assertEquals(3, client().fixture.count("semel_run"));
        assertEquals(3, client().fixture.count("semel_unfinished_run"));
        assertEquals(4, client().fixture.count("semel_key"));
    }

    @Test
    default void a_batch_applied_again_decides_its_duplicates_as_before() {
        RunDeduplicationKeyClaim key = client().key("K");
        List<StoreWrite.AdmitRun> batch =
                List.of(client().admit(client().id(), key), client().admit(client().id(), key));
        client().applyAll(batch);
        List<Object> second = client().applyAll(batch);
        assertInstanceOf(AdmitResult.Fresh.class, second.getFirst());
        RunDeduplicationKeyRecord keyRecord = assertInstanceOf(AdmitResult.KeysHeld.class, second.get(1))
                .keyRecords()
                .getFirst();
        assertEquals(
                batch.getFirst().run().id(),
                assertInstanceOf(RunDeduplicationKeyRecord.class, keyRecord).run());
        assertEquals(1, client().fixture.count("semel_run"));
    }

    @Test
    default void a_takeover_of_an_expired_key_applied_again_changes_nothing_more() {
        RunDeduplicationKeyClaim key =
                client().key("K", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
        RunId old = client().fresh(key);
        client().apply(client().failed(old));
        StoreWrite.AdmitRun admit = client().again(client().id(), old, old, key);
        client().apply(admit);
        var again = assertInstanceOf(AdmitResult.Fresh.class, client().apply(admit));
        assertTrue(again.owned());
        assertEquals(old, again.lineage());
        assertEquals(old, client().runOf(admit.run().id()).previous());
        assertEquals(2, client().fixture.count("semel_run"));
    }

    @Test
    default void an_admission_applied_again_still_names_the_previous_run() {
        for (String chosen : new String[] {null, "mine"}) {
            RunDeduplicationKeyClaim key = client().key("K " + chosen);
            RunId old = client().id();
            client().apply(client().admit(client().run(old, RunState.STARTED, chosen), List.of(key), true));
            client().apply(client().end(old));
            client().change(new StoreWriteCommand.ReleaseKey(key.key(), old, client().by("op", "why")));
            StoreWrite.AdmitRun admit = client().admit(client().id(), key);
            AdmitResult first = client().apply(admit);
            assertEquals(
                    new StoreWrite.PreviousHolder(old, chosen, false),
                    assertInstanceOf(AdmitResult.Fresh.class, first).previous());
            assertEquals(first, client().apply(admit));
        }
    }

    @Test
    default void an_admission_applied_again_after_its_run_ended_restarts_nothing() {
        StoreWrite.AdmitRun keyed = client().admit(client().id(), client().key("K"));
        StoreWrite.AdmitRun admitRun = client().admit(client().id());
        client().applyAll(keyed, admitRun);
        client().applyAll(
                        client().end(keyed.run().id()),
                        client().end(admitRun.run().id()));
        for (Object outcome : client().applyAll(keyed, admitRun)) {
            assertFalse(assertInstanceOf(AdmitResult.Fresh.class, outcome).owned());
        }
        assertEquals(0, client().fixture.count("semel_unfinished_run"));
        assertEquals(2, client().fixture.count("semel_finished_run"));
    }

    @Test
    default void an_admission_applied_again_under_a_later_lease_owns_nothing() {
        StoreWrite.AdmitRun admit = client().admit(client().id(), client().key("K"));
        client().apply(admit);
        client().leases.end(TestStoreClient.LEASE);
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        AdmitResult again = client().applyAs(new CommitBatch.LeaseSlot(78, 0), admit);
        assertFalse(assertInstanceOf(AdmitResult.Fresh.class, again).owned());
        assertEquals(
                List.of(admit.run().id()),
                TestStoreClient.runs(client().applyAs(new CommitBatch.LeaseSlot(78, 0), new StoreWrite.ClaimRuns(5))));
    }

    @Test
    default void an_append_applied_again_is_one_chunk() {
        RunId run = client().fresh();
        StoreWrite.AppendJournal append = client().append(run, 0, "[1]");
        assertEquals(OwnerWriteResult.RECORDED, client().apply(append));
        assertEquals(OwnerWriteResult.RECORDED, client().apply(append));
        assertEquals(List.of("[1]"), client().journal(run));
    }

    @Test
    default void an_end_applied_again_is_the_same_end() {
        RunId run = client().fresh();
        assertEquals(OwnerWriteResult.RECORDED, client().apply(client().end(run)));
        DatabaseRows.RunRow ended = client().runOf(run);
        client().fixture.advance(Duration.ofSeconds(1));
        assertEquals(OwnerWriteResult.RECORDED, client().apply(client().end(run)));
        assertEquals(ended, client().runOf(run));
    }

    @Test
    default void a_batch_of_append_and_end_applied_again_is_recorded() {
        RunId run = client().fresh();
        List<StoreWrite<?>> batch = List.of(client().append(run, 0, "[1]"), client().end(run));
        assertEquals(List.of(OwnerWriteResult.RECORDED, OwnerWriteResult.RECORDED), client().applyAll(batch));
        assertEquals(OwnerWriteResult.RECORDED, client().applyAll(batch).get(1), "the end is on record");
        assertEquals(List.of("[1]"), client().journal(run));
        assertEquals(1, client().fixture.count("semel_finished_run"));
    }

    @Test
    default void duplicate_counts_applied_again_count_once() {
        RunId run = client().fresh(client().key("K"));
        StoreWrite.RecordDuplicates tally = new StoreWrite.RecordDuplicates(
                List.of(client().seen(run, false, 1), client().seen(run, false, 700), client().seen(run, true, 1)));
        client().apply(tally);
        client().apply(tally);
        assertEquals(
                new DatabaseRows.DuplicateCounts(701, 1, client().fixture.time()),
                client().runOf(run).counts());
        assertEquals(3, client().fixture.count("semel_duplicate_request"));
    }

    @Test
    default void duplicate_counts_applied_again_with_new_rows_count_only_those() {
        RunId run = client().fresh(client().key("K"));
        StoreWrite.DuplicateRequest first = client().seen(run, false, 5);
        client().apply(new StoreWrite.RecordDuplicates(List.of(first)));
        client().apply(new StoreWrite.RecordDuplicates(List.of(first, client().seen(run, false, 3))));
        assertEquals(8, client().runOf(run).counts().replays());
    }

    @Test
    default void a_claim_applied_again_takes_the_next_runs_and_loses_none() {
        RunId one = client().id();
        RunId two = client().id();
        client().applyAll(
                        client().admit(client().run(one), List.of(), false),
                        client().admit(client().run(two), List.of(), false));
        assertEquals(List.of(one), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(List.of(two), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(List.of(), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(1))));
        assertEquals(1, TestStoreClient.claims(client().runOf(one)));
    }

    @Test
    default void commands_applied_again_change_nothing_more() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        var token = new DatabaseRows.TokenRow(
                "tok_1", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        List<StoreWriteCommand<?>> edits = List.of(
                new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("x")),
                new StoreWriteCommand.PublishVersion(client().ws, "two", "wf_two", "text", "tester"),
                new StoreWriteCommand.PublishIfUnchanged(
                        new StoreWriteCommand.PublishVersion(client().ws, "two", "wf_two", "text 2", "tester"),
                        null,
                        new StoreWriteCommand.VersionsInForce(1, 0)),
                new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true),
                new StoreWriteCommand.CreateToken(token),
                new StoreWriteCommand.RevokeToken(client().ws, "tok_1", "op"),
                new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why")));
        for (StoreWriteCommand<?> edit : edits) {
            client().change(edit);
            client().change(edit);
        }
        assertEquals(2, client().fixture.count("semel_workspace"));
        assertEquals(3, client().fixture.count("semel_workflow_version"));
        assertEquals(1, client().fixture.count("semel_token"));
        assertEquals(2, client().fixture.count("semel_audit"), "one for the token, one for the key");
        assertTrue(
                assertInstanceOf(DatabaseRows.WorkflowRow.class, client().reads.workflow(client().ws, "one"))
                        .paused());
        assertNotNull(client().holder(key));
    }
}
