package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A trigger is admitted only under the catalog that its workflow was looked up under. */
interface CatalogRules {
    TestStoreClient client();

    /** Changes the catalog without changing the workflow that the client triggers. */
    private void publishAnother() {
        client().publish(client().ws, "another", "wf_another");
    }

    @Test
    default void a_trigger_looked_up_before_a_publish_is_stale_and_claims_nothing() {
        RunDeduplicationKeyClaim key = client().key("K");
        StoreWrite.AdmitRun late = client().admit(client().id(), key, client().payload("P", true));
        publishAnother();
        assertInstanceOf(AdmitResult.CatalogChanged.class, client().apply(late));
        assertNull(client().holder(key));
        assertEquals(0, client().fixture.count("semel_key"));
        assertEquals(0, client().fixture.count("semel_run"));
        assertEquals(0, client().fixture.count("semel_unfinished_run"));
        assertInstanceOf(AdmitResult.Fresh.class, client().apply(client().admit(client().id(), key)));
    }

    @Test
    default void a_stale_trigger_is_reported_even_if_its_key_is_held() {
        client().fresh(client().key("K"));
        StoreWrite.AdmitRun late = client().admit(client().id(), client().key("K"));
        publishAnother();
        assertInstanceOf(
                AdmitResult.CatalogChanged.class, client().apply(late), "by the new version it may be another name");
    }

    @Test
    default void pausing_resuming_and_revoking_make_triggers_stale_and_an_unchanged_publish_does_not() {
        client().change(new StoreWriteCommand.CreateToken(new DatabaseRows.TokenRow(
                "tok_1", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null)));
        for (StoreWriteCommand<?> edit : List.of(
                new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true),
                new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false),
                new StoreWriteCommand.RevokeToken(client().ws, "tok_1", "op"))) {
            StoreWrite.AdmitRun late = client().admit(client().id());
            client().change(edit);
            assertInstanceOf(AdmitResult.CatalogChanged.class, client().apply(late), edit.toString());
        }
        StoreWrite.AdmitRun unharmed = client().admit(client().id());
        client().publish(client().ws, "one", TestStoreClient.WORKFLOW);
        assertInstanceOf(AdmitResult.Fresh.class, client().apply(unharmed));
    }

    @Test
    default void other_triggers_in_a_batch_with_a_stale_one_succeed() {
        StoreWrite.AdmitRun late = client().admit(client().id(), client().key("K"));
        publishAnother();
        List<Object> outcomes = client().applyAll(
                        client().admit(client().id(), client().key("L")),
                        late,
                        client().admit(client().id(), client().key("K")));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.get(0));
        assertInstanceOf(AdmitResult.CatalogChanged.class, outcomes.get(1));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.get(2));
    }

    @Test
    default void a_stale_trigger_with_a_recorded_run_is_the_same_fresh_run() {
        StoreWrite.AdmitRun keyed = client().admit(client().id(), client().key("K"));
        StoreWrite.AdmitRun admitRun = client().admit(client().id());
        List<Object> first = client().applyAll(keyed, admitRun);
        publishAnother();
        assertEquals(first, client().applyAll(keyed, admitRun), "its answer was lost, not the run");
        assertEquals(2, client().fixture.count("semel_run"));
    }

    @Test
    default void a_worker_without_a_lease_reports_stale_triggers_too() {
        StoreWrite.AdmitRun late = client().admit(client().id(), client().key("K"));
        publishAnother();
        assertInstanceOf(AdmitResult.CatalogChanged.class, client().applyAs(null, late));
        assertInstanceOf(
                AdmitResult.Fresh.class, client().applyAs(null, client().admit(client().id(), client().key("K"))));
    }

    @Test
    default void a_lease_that_starts_after_a_publish_sees_it() {
        StoreWrite.AdmitRun late = client().admit(client().id());
        publishAnother();
        client().leases.end(TestStoreClient.LEASE);
        client().leases.start(78, "client", client().store.lanes(), TestStoreClient.TTL);
        assertInstanceOf(AdmitResult.CatalogChanged.class, client().applyAs(new CommitBatch.LeaseSlot(78, 0), late));
        assertInstanceOf(
                AdmitResult.Fresh.class,
                client().applyAs(new CommitBatch.LeaseSlot(78, 0), client().admit(client().id())));
    }

    @Test
    default void a_trigger_in_one_batch_with_the_resume_of_its_workflow_is_not_held() {
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        RunId queued = client().id();
        StoreWrite.AdmitRun late = client().admit(client().run(queued, RunState.QUEUED, null), List.of(), true);
        Object outcome = client().applyAll(
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false)),
                        late)
                .get(1);
        boolean stale = outcome instanceof AdmitResult.CatalogChanged;
        assertTrue(stale || outcome instanceof AdmitResult.Fresh, outcome.toString());
        assertEquals(
                stale ? List.of() : List.of(queued), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(5))));
    }
}
