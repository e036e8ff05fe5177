package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.Edit.Replied;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A change that comes with a key of its caller is done once, and its answer is kept in the same transaction. */
interface ReplyRules {
    Desk desk();

    private Edit.Asked asked(String operation, String key, String request) {
        return new Edit.Asked(desk().id(), desk().ws, operation, key, Desk.bytes(request), Desk.WINDOW);
    }

    private Edit.Once<Rows.Workflow> publish(String key, String text) {
        var edit = new Edit.Publish(desk().ws, "pay", "wf_pay", text, "tester");
        return new Edit.Once<>(asked("publish", key, text), edit, ReplyRules::version);
    }

    private static @Nullable String version(Rows.@Nullable Workflow workflow) {
        return workflow == null ? null : "version " + workflow.version();
    }

    @Test
    default void the_same_request_again_gets_the_same_answer_and_changes_nothing() {
        assertEquals(new Replied.Done("version 1", false), desk().change(publish("K", "text 1")));
        desk().change(new Edit.Publish(desk().ws, "pay", "wf_pay", "text 2", "tester"));
        long change = desk().reads.catalogChange();
        assertEquals(new Replied.Done("version 1", true), desk().change(publish("K", "text 1")));
        assertEquals(change, desk().reads.catalogChange(), "the first text was not published over the second");
        assertEquals(new Replied.Done("version 3", false), desk().change(publish("L", "text 1")), "another key");
    }

    @Test
    default void another_request_under_the_key_is_refused_and_changes_nothing() {
        desk().change(publish("K", "text 1"));
        assertEquals(new Replied.OtherRequest(), desk().change(publish("K", "text 2")));
        assertNull(desk().reads.version("wf_pay", 2));
    }

    @Test
    default void keys_of_other_operations_and_workspaces_do_not_meet() {
        int other = desk().workspace("two").ws();
        desk().change(publish("K", "text 1"));
        var pause = new Edit.Pause(desk().ws, "wf_pay", true);
        assertEquals(
                new Replied.Done("version 1", false),
                desk().change(new Edit.Once<>(asked("pause", "K", "wf_pay"), pause, ReplyRules::version)));
        var there = new Edit.Asked(desk().id(), other, "publish", "K", Desk.bytes("text 1"), Desk.WINDOW);
        var edit = new Edit.Publish(other, "pay", "wf_theirs", "text 1", "tester");
        assertEquals(
                new Replied.Done("version 1", false), desk().change(new Edit.Once<>(there, edit, ReplyRules::version)));
    }

    @Test
    default void a_change_that_refuses_leaves_the_key_free() {
        var pause = new Edit.Pause(desk().ws, "wf_none", true);
        assertEquals(
                new Replied.Refused(),
                desk().change(new Edit.Once<>(asked("pause", "K", "wf_none"), pause, ReplyRules::version)));
        assertEquals(0, desk().place.count("semel_idempotent_response"));
    }

    @Test
    default void an_answer_that_was_lost_is_no_replay() {
        var once = publish("K", "text 1");
        assertEquals(new Replied.Done("version 1", false), desk().change(once));
        assertEquals(new Replied.Done("version 1", false), desk().change(once));
        assertEquals(1, desk().place.number("SELECT count(*) FROM semel_workflow_version WHERE workflow_id = 'wf_pay'"));
    }

    @Test
    default void an_answer_is_kept_for_its_window_and_then_the_key_is_free() {
        desk().change(publish("K", "text 1"));
        desk().place.setTime(Place.START + Desk.WINDOW - 1);
        assertFalse(desk().reads.expiredReply());
        assertEquals(new Replied.Done("version 1", true), desk().change(publish("K", "text 1")));
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertTrue(desk().reads.expiredReply());
        assertEquals(new Replied.Done("version 2", false), desk().change(publish("K", "text 2")));
        assertFalse(desk().reads.expiredReply());
    }

    @Test
    default void answers_past_their_window_are_deleted_a_few_at_a_time() {
        for (String key : List.of("a", "b", "c")) {
            desk().change(publish(key, "text 1"));
        }
        desk().place.setTime(Place.START + Desk.WINDOW);
        desk().change(publish("d", "text 1"));
        assertEquals(2, desk().change(new Edit.DeleteReplies(2)));
        assertEquals(1, desk().change(new Edit.DeleteReplies(2)));
        assertEquals(0, desk().change(new Edit.DeleteReplies(2)));
        assertEquals(1, desk().place.count("semel_idempotent_response"));
    }

    @Test
    default void in_one_batch_the_first_is_done_and_the_second_is_told_so() {
        assertEquals(
                List.of(new Replied.Done("version 1", false), new Replied.Done("version 1", true)),
                desk().applyAll(
                                new Write.Change<>(publish("K", "text 1")),
                                new Write.Change<>(publish("K", "text 1"))));
    }

    @Test
    default void several_names_are_let_go_as_one_deed() {
        Wish key = desk().key("K");
        Wish payload = desk().payload("P", true);
        RunId run = desk().fresh(key, payload);
        var all = new Edit.ReleaseAll(List.of(
                new Edit.Release(key.name(), run, desk().by("op", "why")),
                new Edit.Release(payload.name(), run, desk().by("op", "why"))));
        assertTrue(desk().change(all));
        assertTrue(desk().change(all), "applied again after a lost answer it answers the same");
        assertFalse(desk().change(new Edit.ReleaseAll(List.of(
                new Edit.Release(key.name(), run, desk().by("op", "why")),
                new Edit.Release(payload.name(), run, desk().by("op", "why"))))));
        assertEquals(1, desk().place.count("semel_audit"));
        desk().fresh(key, payload);
        assertFalse(
                desk().change(new Edit.ReleaseAll(
                        List.of(new Edit.Release(payload.name(), desk().id(), desk().by("op", "why"))))),
                "nothing was held by that run");
    }

    @Test
    default void a_token_for_a_new_workspace_comes_with_the_workspace_or_not_at_all() {
        var token = new Rows.Token("tok_1", 0, "two", "ci", Desk.bytes("hash"), "admin", 0, 0, 0);
        var create = new Edit.CreateToken(token, new Edit.OpenWorkspace("two", Desk.bytes("secret")));
        Rows.Token made = desk().change(create);
        assertNotNull(made);
        assertEquals("two", made.workspace());
        Rows.Token again = desk().change(create);
        assertNotNull(again);
        assertEquals(made.tokenId(), again.tokenId(), "applied again after a lost answer");
        var late = new Rows.Token("tok_2", 0, "two", "ci", Desk.bytes("other"), "admin", 0, 0, 0);
        Object refused = desk().applyAll(new Write.Change<>(
                        new Edit.CreateToken(late, new Edit.OpenWorkspace("two", Desk.bytes("another")))))
                .getFirst();
        assertEquals(Nothing.NOTHING, refused);
        assertEquals(1, desk().place.count("semel_token"));
        assertEquals(2, desk().place.count("semel_workspace"));
    }
}
