package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Versions for a share of the triggers, for all of them, and back again. */
interface RolloutRules {
    TestStoreClient client();

    private DatabaseRows.WorkflowRow publish(String body) {
        return client().change(new StoreWriteCommand.PublishVersion(client().ws, "pay", "wf_pay", body, "tester"));
    }

    private DatabaseRows.WorkflowRow stage(String body, int share) {
        return there(client().change(new StoreWriteCommand.StageCandidate(client().ws, "pay", body, share, "tester")));
    }

    private DatabaseRows.WorkflowRow promote(int version) {
        return there(client().change(new StoreWriteCommand.PromoteCandidate(client().ws, "wf_pay", version, "tester")));
    }

    private DatabaseRows.WorkflowRow rollback(int version) {
        return there(client().change(
                        new StoreWriteCommand.RollBackVersion(client().ws, "wf_pay", version, "tester", "it failed")));
    }

    private Object refused(StoreWriteCommand<?> edit) {
        return client().applyAll(new StoreWrite.ExecuteCommand<>(edit)).getFirst();
    }

    private static <T> T there(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    private void assertRollout(WorkflowVersionRollout wanted, boolean changed, DatabaseRows.WorkflowRow answered) {
        assertEquals(wanted, answered.rollout());
        assertEquals(changed, answered.changed());
        assertEquals(wanted, there(client().reads.workflow(client().ws, "pay")).rollout());
        assertEquals(
                wanted, there(client().reads.workflow(client().ws, "wf_pay")).rollout());
    }

    @Test
    default void a_candidate_exists_beside_the_current_version() {
        publish("text 1");
        long before = client().reads.catalogVersion();
        assertRollout(new WorkflowVersionRollout(1, 2, 10, 2), true, stage("text 2", 10));
        assertTrue(client().reads.catalogVersion() > before, "workers remember who gets what");
        assertEquals("text 2", there(client().reads.version("wf_pay", 2)).body());
    }

    @Test
    default void the_same_candidate_again_changes_at_most_its_rollout_percentage() {
        publish("text 1");
        stage("text 2", 10);
        long before = client().reads.catalogVersion();
        assertRollout(new WorkflowVersionRollout(1, 2, 10, 2), false, stage("text 2", 10));
        assertRollout(new WorkflowVersionRollout(1, 2, 10, 2), false, stage("text 1", 50));
        assertEquals(before, client().reads.catalogVersion());
        assertRollout(new WorkflowVersionRollout(1, 2, 30, 2), true, stage("text 2", 30));
        assertTrue(client().reads.catalogVersion() > before);
    }

    @Test
    default void another_candidate_replaces_the_first_under_its_own_number() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(new WorkflowVersionRollout(1, 3, 20, 3), true, stage("text 3", 20));
        assertEquals("text 2", there(client().reads.version("wf_pay", 2)).body());
    }

    private Object publishAfter(String body, int version, int candidate) {
        var text = new StoreWriteCommand.PublishVersion(client().ws, "pay", "wf_pay", body, "tester");
        return refused(new StoreWriteCommand.PublishIfUnchanged(
                text, null, new StoreWriteCommand.VersionsInForce(version, candidate)));
    }

    private WorkflowVersionRollout after(String body, int version, int candidate) {
        return assertInstanceOf(DatabaseRows.WorkflowRow.class, publishAfter(body, version, candidate))
                .rollout();
    }

    @Test
    default void a_text_based_on_the_seen_version_is_published_and_others_change_nothing() {
        assertEquals(WorkflowVersionRollout.of(1), after("text 1", 0, 0));
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("other", 0, 0), "somebody made it meanwhile");
        assertEquals(WorkflowVersionRollout.of(2), after("text 2", 1, 0));
        long before = client().reads.catalogVersion();
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING, publishAfter("text 3", 1, 0), "somebody published meanwhile");
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("text 3", 3, 0), "there is no such version");
        assertEquals(WorkflowVersionRollout.of(2), after("text 2", 1, 0), "asked twice");
        assertEquals(before, client().reads.catalogVersion());
        assertEquals(
                WorkflowVersionRollout.of(2),
                there(client().reads.workflow(client().ws, "pay")).rollout());
    }

    @Test
    default void a_publish_does_not_end_a_candidate_that_its_author_did_not_see() {
        publish("text 1");
        stage("text 2", 10);
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("text 3", 1, 0));
        assertEquals(new WorkflowVersionRollout(3, 0, 0, 3), after("text 3", 1, 2));
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("text 4", 3, 2), "the candidate is over");
    }

    @Test
    default void an_unpublished_workflow_has_no_base_version() {
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("text", 1, 0));
        assertEquals(StoreWriteCommand.NullResult.NOTHING, publishAfter("text", 0, 1));
        assertEquals(1, client().reads.workflows(client().ws).size());
    }

    @Test
    default void a_publish_based_on_an_outdated_count_is_rejected() {
        long counted = client().reads.catalogVersion();
        var mine = new StoreWriteCommand.PublishIfUnchanged(
                new StoreWriteCommand.PublishVersion(client().ws, "mine", "wf_mine", "text", "tester"), counted, null);
        client().change(new StoreWriteCommand.PublishVersion(client().ws, "theirs", "wf_theirs", "text", "tester"));
        assertEquals(StoreWriteCommand.NullResult.NOTHING, refused(mine));
        assertEquals(2, client().reads.workflows(client().ws).size(), "not even its name is there");
        var again = new StoreWriteCommand.PublishIfUnchanged(
                mine.publish(), client().reads.catalogVersion(), null);
        assertTrue(there(client().change(again)).changed());
        assertFalse(there(client().change(again)).changed(), "applied again it is what it was");
    }

    @Test
    default void a_publish_checks_both_the_count_and_the_seen_version() {
        long counted = client().reads.catalogVersion();
        var text = new StoreWriteCommand.PublishVersion(client().ws, "pay", "wf_pay", "text 1", "tester");
        var none = new StoreWriteCommand.VersionsInForce(0, 0);
        client().change(new StoreWriteCommand.PublishVersion(client().ws, "theirs", "wf_theirs", "text", "tester"));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.PublishIfUnchanged(text, counted, none)),
                "counted too early");
        long again = client().reads.catalogVersion();
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.PublishIfUnchanged(
                        text, again, new StoreWriteCommand.VersionsInForce(1, 0))),
                "there is nothing that could have been seen");
        assertTrue(there(client().change(new StoreWriteCommand.PublishIfUnchanged(text, again, none)))
                .changed());
        assertFalse(
                there(client().change(new StoreWriteCommand.PublishIfUnchanged(text, again, none)))
                        .changed(),
                "applied again");
    }

    @Test
    default void an_unpublished_workflow_has_no_candidate() {
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.StageCandidate(client().ws, "none", "text", 10, "tester")));
        assertEquals(1, client().reads.workflows(client().ws).size());
    }

    @Test
    default void a_promoted_candidate_is_current_and_promoting_again_changes_nothing() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(new WorkflowVersionRollout(1, 2, 10, 2), false, promote(7));
        assertRollout(WorkflowVersionRollout.of(2), true, promote(2));
        assertRollout(WorkflowVersionRollout.of(2), false, promote(2));
        assertRollout(WorkflowVersionRollout.of(2), false, promote(0));
        assertEquals(
                List.of("workflow.promote pay version 2"),
                client().reads.audit(client().ws, null, 9).stream()
                        .map(row -> row.action() + " " + row.target() + " " + row.reason())
                        .toList());
    }

    @Test
    default void an_ended_candidate_keeps_its_number() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(new WorkflowVersionRollout(1, 0, 0, 2), true, rollback(0));
        assertRollout(new WorkflowVersionRollout(1, 0, 0, 2), false, rollback(0));
        assertRollout(WorkflowVersionRollout.of(3), true, publish("text 2"));
        assertEquals(1, client().reads.audit(client().ws, null, 9).size());
    }

    @Test
    default void a_rollback_publishes_the_old_text_under_a_new_number() {
        publish("text 1");
        publish("text 2");
        stage("text 3", 10);
        assertRollout(WorkflowVersionRollout.of(4), true, rollback(1));
        assertEquals("text 1", there(client().reads.version("wf_pay", 4)).body());
        assertRollout(WorkflowVersionRollout.of(4), false, rollback(1));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.RollBackVersion(client().ws, "wf_pay", 5, "tester", "")));
    }

    @Test
    default void a_rollback_to_the_current_text_only_ends_the_candidate() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(new WorkflowVersionRollout(1, 0, 0, 2), true, rollback(1));
    }

    @Test
    default void publishing_ends_the_candidate_unless_the_text_is_unchanged() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(new WorkflowVersionRollout(1, 2, 10, 2), false, publish("text 1"));
        assertRollout(WorkflowVersionRollout.of(2), true, publish("text 2"));
        stage("text 3", 10);
        assertRollout(WorkflowVersionRollout.of(4), true, publish("text 4"));
    }

    @Test
    default void another_workspace_cannot_promote_or_roll_back() {
        publish("text 1");
        stage("text 2", 10);
        int other = client().workspace("two").ws();
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.PromoteCandidate(other, "wf_pay", 0, "tester")));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.RollBackVersion(other, "wf_pay", 0, "tester", "")));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.StageCandidate(other, "pay", "text 3", 10, "tester")));
        assertEquals(
                new WorkflowVersionRollout(1, 2, 10, 2),
                there(client().reads.workflow(client().ws, "pay")).rollout());
    }

    @Test
    default void a_pause_leaves_the_candidate_as_it_is() {
        publish("text 1");
        stage("text 2", 10);
        assertRollout(
                new WorkflowVersionRollout(1, 2, 10, 2),
                false,
                there(client().change(new StoreWriteCommand.PauseWorkflow(client().ws, "wf_pay", true))));
    }

    @Test
    default void versions_are_listed_newest_first_without_their_texts() {
        publish("text 1");
        publish("text 2");
        stage("text 3", 10);
        List<DatabaseRows.VersionRow> two = client().reads.versions("wf_pay", Integer.MAX_VALUE, 2);
        assertEquals(
                List.of(3, 2),
                two.stream().map(DatabaseRows.VersionRow::version).toList());
        assertEquals("", two.getFirst().body());
        assertEquals(
                List.of(1),
                client().reads.versions("wf_pay", 2, 9).stream()
                        .map(DatabaseRows.VersionRow::version)
                        .toList());
        assertEquals(List.of(), client().reads.versions("wf_none", 9, 9));
    }

    @Test
    default void the_newest_runs_are_counted_by_version_and_state() {
        for (int i = 0; i < 3; i++) {
            RunId id = client().id();
            client().apply(client().admit(client().run(id, RunState.STARTED, null), List.of(), true));
        }
        assertEquals(
                List.of(new DatabaseRows.RunCount(1, RunState.STARTED, 3)),
                client().reads.countRuns(client().ws, TestStoreClient.WORKFLOW, 100));
        assertEquals(
                List.of(new DatabaseRows.RunCount(1, RunState.STARTED, 2)),
                client().reads.countRuns(client().ws, TestStoreClient.WORKFLOW, 2));
        assertEquals(List.of(), client().reads.countRuns(client().ws + 1, TestStoreClient.WORKFLOW, 100));
        assertFalse(client().reads
                .countRuns(client().ws, TestStoreClient.WORKFLOW, 1)
                .isEmpty());
    }
}
