package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.run.RunId;
import dev.semel.store.StoreWriteCommand.CommandReply;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A change that comes with a key of its caller is done once, and its answer is kept in the same transaction. */
interface IdempotentCommandRules {
    TestStoreClient client();

    private StoreWriteCommand.CommandRequest asked(String operation, String key, String request) {
        return new StoreWriteCommand.CommandRequest(
                client().id(), client().ws, operation, key, TestStoreClient.bytes(request), TestStoreClient.WINDOW);
    }

    private StoreWriteCommand.IdempotentCommand<DatabaseRows.WorkflowRow> publish(String key, String text) {
        var edit = new StoreWriteCommand.PublishVersion(client().ws, "pay", "wf_pay", text, "tester");
        return new StoreWriteCommand.IdempotentCommand<>(
                asked("publish", key, text), edit, IdempotentCommandRules::version);
    }

    private static @Nullable String version(DatabaseRows.@Nullable WorkflowRow workflow) {
        return workflow == null ? null : "version " + workflow.version();
    }

    @Test
    default void the_same_request_again_gets_the_same_reply_and_changes_nothing() {
        assertEquals(new CommandReply.Done("version 1", false), client().change(publish("K", "text 1")));
        client().change(new StoreWriteCommand.PublishVersion(client().ws, "pay", "wf_pay", "text 2", "tester"));
        long change = client().reads.catalogVersion();
        assertEquals(new CommandReply.Done("version 1", true), client().change(publish("K", "text 1")));
        assertEquals(change, client().reads.catalogVersion(), "the first text was not published over the second");
        assertEquals(new CommandReply.Done("version 3", false), client().change(publish("L", "text 1")), "another key");
    }

    @Test
    default void another_request_under_the_key_is_rejected_and_changes_nothing() {
        client().change(publish("K", "text 1"));
        assertEquals(new CommandReply.DifferentRequest(), client().change(publish("K", "text 2")));
        assertNull(client().reads.version("wf_pay", 2));
    }

    @Test
    default void keys_of_other_operations_and_workspaces_do_not_collide() {
        int other = client().workspace("two").ws();
        client().change(publish("K", "text 1"));
        var pause = new StoreWriteCommand.PauseWorkflow(client().ws, "wf_pay", true);
        assertEquals(
                new CommandReply.Done("version 1", false),
                client().change(new StoreWriteCommand.IdempotentCommand<>(
                        asked("pause", "K", "wf_pay"), pause, IdempotentCommandRules::version)));
        var there = new StoreWriteCommand.CommandRequest(
                client().id(), other, "publish", "K", TestStoreClient.bytes("text 1"), TestStoreClient.WINDOW);
        var edit = new StoreWriteCommand.PublishVersion(other, "pay", "wf_theirs", "text 1", "tester");
        assertEquals(
                new CommandReply.Done("version 1", false),
                client().change(new StoreWriteCommand.IdempotentCommand<>(
                        there, edit, IdempotentCommandRules::version)));
    }

    @Test
    default void a_rejected_command_leaves_the_key_free() {
        var pause = new StoreWriteCommand.PauseWorkflow(client().ws, "wf_none", true);
        assertEquals(
                new CommandReply.Rejected(),
                client().change(new StoreWriteCommand.IdempotentCommand<>(
                        asked("pause", "K", "wf_none"), pause, IdempotentCommandRules::version)));
        assertEquals(0, client().fixture.count("semel_idempotent_response"));
    }

    @Test
    default void a_lost_response_is_not_reported_as_a_replay() {
        var once = publish("K", "text 1");
        assertEquals(new CommandReply.Done("version 1", false), client().change(once));
        assertEquals(new CommandReply.Done("version 1", false), client().change(once));
        assertEquals(
                1, client().fixture.number("SELECT count(*) FROM semel_workflow_version WHERE workflow_id = 'wf_pay'"));
    }

    @Test
    default void a_reply_is_kept_for_its_window_and_then_the_key_is_free() {
        client().change(publish("K", "text 1"));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW - 1);
        assertFalse(client().reads.hasExpiredReply());
        assertEquals(new CommandReply.Done("version 1", true), client().change(publish("K", "text 1")));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertTrue(client().reads.hasExpiredReply());
        assertEquals(new CommandReply.Done("version 2", false), client().change(publish("K", "text 2")));
        assertFalse(client().reads.hasExpiredReply());
    }

    @Test
    default void expired_replies_are_deleted_a_few_at_a_time() {
        for (String key : List.of("a", "b", "c")) {
            client().change(publish(key, "text 1"));
        }
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        client().change(publish("d", "text 1"));
        assertEquals(2, client().change(new StoreWriteCommand.DeleteExpiredReplies(2)));
        assertEquals(1, client().change(new StoreWriteCommand.DeleteExpiredReplies(2)));
        assertEquals(0, client().change(new StoreWriteCommand.DeleteExpiredReplies(2)));
        assertEquals(1, client().fixture.count("semel_idempotent_response"));
    }

    @Test
    default void in_one_batch_the_first_is_executed_and_the_second_replayed() {
        assertEquals(
                List.of(new CommandReply.Done("version 1", false), new CommandReply.Done("version 1", true)),
                client().applyAll(
                                new StoreWrite.ExecuteCommand<>(publish("K", "text 1")),
                                new StoreWrite.ExecuteCommand<>(publish("K", "text 1"))));
    }

    @Test
    default void several_keys_are_released_as_one_action() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunDeduplicationKeyClaim payload = client().payload("P", true);
        RunId run = client().fresh(key, payload);
        var all = new StoreWriteCommand.ReleaseKeys(List.of(
                new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why")),
                new StoreWriteCommand.ReleaseKey(payload.key(), run, client().by("op", "why"))));
        assertTrue(client().change(all));
        assertTrue(client().change(all), "applied again after a lost answer it answers the same");
        assertFalse(client().change(new StoreWriteCommand.ReleaseKeys(List.of(
                new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why")),
                new StoreWriteCommand.ReleaseKey(payload.key(), run, client().by("op", "why"))))));
        assertEquals(1, client().fixture.count("semel_audit"));
        client().fresh(key, payload);
        assertFalse(
                client().change(new StoreWriteCommand.ReleaseKeys(List.of(
                        new StoreWriteCommand.ReleaseKey(payload.key(), client().id(), client().by("op", "why"))))),
                "nothing was held by that run");
    }

    @Test
    default void a_token_for_a_new_workspace_is_created_with_it_or_not_at_all() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", 0, "two", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0, null);
        var create = new StoreWriteCommand.CreateToken(
                token, new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("secret")));
        DatabaseRows.TokenRow made = client().change(create);
        assertNotNull(made);
        assertEquals("two", made.workspace());
        DatabaseRows.TokenRow again = client().change(create);
        assertNotNull(again);
        assertEquals(made.tokenId(), again.tokenId(), "applied again after a lost answer");
        var late = new DatabaseRows.TokenRow(
                "tok_2", 0, "two", "ci", TestStoreClient.bytes("other"), "admin", 0, 0, 0, null);
        Object refused = client().applyAll(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateToken(
                        late, new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("another")))))
                .getFirst();
        assertEquals(StoreWriteCommand.NullResult.NOTHING, refused);
        assertEquals(1, client().fixture.count("semel_token"));
        assertEquals(2, client().fixture.count("semel_workspace"));
    }
}
