package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A trigger is admitted only under the catalog that its workflow was looked up under. */
interface CatalogRules {
    TestStoreClient desk();

    /** Changes the catalog without changing the workflow that the desk triggers. */
    private void publishAnother() {
        desk().publish(desk().ws, "another", "wf_another");
    }

    @Test
    default void a_trigger_looked_up_before_a_publish_is_stale_and_claims_nothing() {
        RunDeduplicationKeyClaim key = desk().key("K");
        StoreWrite.AdmitRun late = desk().admit(desk().id(), key, desk().payload("P", true));
        publishAnother();
        assertInstanceOf(AdmitResult.CatalogChanged.class, desk().apply(late));
        assertNull(desk().holder(key));
        assertEquals(0, desk().fixture.count("semel_key"));
        assertEquals(0, desk().fixture.count("semel_run"));
        assertEquals(0, desk().fixture.count("semel_unfinished_run"));
        assertInstanceOf(AdmitResult.Fresh.class, desk().apply(desk().admit(desk().id(), key)));
    }

    @Test
    default void a_stale_trigger_is_reported_even_if_its_key_is_held() {
        desk().fresh(desk().key("K"));
        StoreWrite.AdmitRun late = desk().admit(desk().id(), desk().key("K"));
        publishAnother();
        assertInstanceOf(
                AdmitResult.CatalogChanged.class, desk().apply(late), "by the new version it may be another name");
    }

    @Test
    default void pausing_resuming_and_revoking_make_triggers_stale_and_an_unchanged_publish_does_not() {
        desk().change(new StoreWriteCommand.CreateToken(new DatabaseRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null)));
        for (StoreWriteCommand<?> edit : List.of(
                new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true),
                new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false),
                new StoreWriteCommand.RevokeToken(desk().ws, "tok_1", "op"))) {
            StoreWrite.AdmitRun late = desk().admit(desk().id());
            desk().change(edit);
            assertInstanceOf(AdmitResult.CatalogChanged.class, desk().apply(late), edit.toString());
        }
        StoreWrite.AdmitRun unharmed = desk().admit(desk().id());
        desk().publish(desk().ws, "one", TestStoreClient.WORKFLOW);
        assertInstanceOf(AdmitResult.Fresh.class, desk().apply(unharmed));
    }

    @Test
    default void other_triggers_in_a_batch_with_a_stale_one_succeed() {
        StoreWrite.AdmitRun late = desk().admit(desk().id(), desk().key("K"));
        publishAnother();
        List<Object> outcomes = desk().applyAll(
                        desk().admit(desk().id(), desk().key("L")), late, desk().admit(desk().id(), desk().key("K")));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.get(0));
        assertInstanceOf(AdmitResult.CatalogChanged.class, outcomes.get(1));
        assertInstanceOf(AdmitResult.Fresh.class, outcomes.get(2));
    }

    @Test
    default void a_stale_trigger_with_a_recorded_run_is_the_same_fresh_run() {
        StoreWrite.AdmitRun keyed = desk().admit(desk().id(), desk().key("K"));
        StoreWrite.AdmitRun admitRun = desk().admit(desk().id());
        List<Object> first = desk().applyAll(keyed, admitRun);
        publishAnother();
        assertEquals(first, desk().applyAll(keyed, admitRun), "its answer was lost, not the run");
        assertEquals(2, desk().fixture.count("semel_run"));
    }

    @Test
    default void a_worker_without_a_lease_reports_stale_triggers_too() {
        StoreWrite.AdmitRun late = desk().admit(desk().id(), desk().key("K"));
        publishAnother();
        assertInstanceOf(AdmitResult.CatalogChanged.class, desk().applyAs(null, late));
        assertInstanceOf(AdmitResult.Fresh.class, desk().applyAs(null, desk().admit(desk().id(), desk().key("K"))));
    }

    @Test
    default void a_lease_that_starts_after_a_publish_sees_it() {
        StoreWrite.AdmitRun late = desk().admit(desk().id());
        publishAnother();
        desk().leases.end(TestStoreClient.LEASE);
        desk().leases.start(78, "desk", desk().store.lanes(), TestStoreClient.TTL);
        assertInstanceOf(AdmitResult.CatalogChanged.class, desk().applyAs(new CommitBatch.LeaseSlot(78, 0), late));
        assertInstanceOf(
                AdmitResult.Fresh.class, desk().applyAs(new CommitBatch.LeaseSlot(78, 0), desk().admit(desk().id())));
    }

    @Test
    default void a_trigger_in_one_batch_with_the_resume_of_its_workflow_is_not_held() {
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        RunId queued = desk().id();
        StoreWrite.AdmitRun late = desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true);
        Object outcome = desk().applyAll(
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false)),
                        late)
                .get(1);
        boolean stale = outcome instanceof AdmitResult.CatalogChanged;
        assertTrue(stale || outcome instanceof AdmitResult.Fresh, outcome.toString());
        assertEquals(
                stale ? List.of() : List.of(queued), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(5))));
    }
}
