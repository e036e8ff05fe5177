package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rare changes that people make. */
interface ChangeRules {
    Desk desk();

    private Rows.Workflow publish(String name, String id, String body) {
        return desk().change(new Edit.Publish(desk().ws, name, id, body, "tester"));
    }

    private static <T> T there(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    @Test
    default void a_workspace_is_made_once_and_keeps_its_secret() {
        Rows.Workspace made = desk().change(new Edit.OpenWorkspace("two", Desk.bytes("secret")));
        Rows.Workspace again = desk().change(new Edit.OpenWorkspace("two", Desk.bytes("another")));
        assertEquals(made.ws(), again.ws());
        assertArrayEquals(Desk.bytes("secret"), again.secret());
        assertArrayEquals(
                Desk.bytes("secret"), there(desk().reads.workspace("two")).secret());
        assertEquals("two", there(desk().reads.workspace(made.ws())).name());
        assertNull(desk().reads.workspace("three"));
        assertNull(desk().reads.workspace(99));
    }

    @Test
    default void publishing_makes_versions_and_an_unchanged_text_makes_none() {
        long before = desk().reads.catalogChange();
        Rows.Workflow first = publish("pay", "wf_pay", "text 1");
        assertEquals(new Rows.Workflow(desk().ws, "pay", "wf_pay", 1, false, Place.START, true), first);
        long after = desk().reads.catalogChange();
        assertTrue(after > before);

        Rows.Workflow same = publish("pay", "wf_ignored", "text 1");
        assertEquals(new Rows.Workflow(desk().ws, "pay", "wf_pay", 1, false, Place.START, false), same);
        assertEquals(after, desk().reads.catalogChange());

        assertEquals(2, publish("pay", "wf_pay", "text 2").version());
        assertEquals(3, publish("pay", "wf_pay", "text 1").version(), "an older text is a change again");
        assertEquals("text 2", there(desk().reads.version("wf_pay", 2)).body());
        Rows.Version third = there(desk().reads.version("wf_pay", 3));
        assertEquals(new Rows.Version("wf_pay", "pay", desk().ws, 3, "text 1", Place.START, "tester"), third);
        assertNull(desk().reads.version("wf_pay", 4));
        assertNull(desk().reads.version("wf_pay", 0));
    }

    @Test
    default void a_workflow_is_found_by_name_and_by_id_and_listed_by_name() {
        publish("b", "wf_b", "x");
        publish("a", "wf_a", "x");
        assertEquals("wf_b", there(desk().reads.workflow(desk().ws, "b")).workflowId());
        assertEquals("b", there(desk().reads.workflow(desk().ws, "wf_b")).name());
        assertNull(desk().reads.workflow(desk().ws, "c"));
        assertEquals(
                List.of("a", "b", "one"),
                desk().reads.workflows(desk().ws).stream()
                        .map(Rows.Workflow::name)
                        .toList());
    }

    @Test
    default void pausing_holds_queued_runs_until_it_is_resumed() {
        long before = desk().reads.catalogChange();
        assertTrue(there(desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true)))
                .paused());
        assertTrue(desk().reads.catalogChange() > before);
        RunId queued = desk().id();
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        assertEquals(List.of(), Desk.runs(desk().apply(new Write.Claim(5))));
        assertFalse(there(desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, false)))
                .paused());
        assertEquals(List.of(queued), Desk.runs(desk().apply(new Write.Claim(5))));
        assertEquals(RunState.STARTED, desk().runOf(queued).state());
    }

    @Test
    default void pausing_what_is_not_there_answers_nothing() {
        Object answer = desk().lane
                .apply(new Batch(desk().hold, List.of(new Write.Change<>(new Edit.Pause(desk().ws, "wf_no", true)))))
                .getFirst();
        assertEquals(Nothing.NOTHING, answer);
    }

    @Test
    default void another_workspace_cannot_pause_or_resume_a_workflow() {
        int other = desk().workspace("two").ws();
        RunId queued = desk().id();
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true));
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        Object answer = desk().applyAll(new Write.Change<>(new Edit.Pause(other, Desk.WORKFLOW, false)))
                .getFirst();
        assertEquals(Nothing.NOTHING, answer);
        assertTrue(there(desk().reads.workflow(desk().ws, "one")).paused());
        assertFalse(desk().freeWork(), "its queued runs stay where they are");
    }

    @Test
    default void a_token_is_found_by_its_hash_until_it_is_revoked() {
        var token = new Rows.Token(
                "tok_1", desk().ws, "one", "ci", Desk.bytes("hash"), "trigger,read", 60, 0, 0, "usr_ann");
        Rows.Token made = there(desk().change(new Edit.CreateToken(token)));
        assertEquals(Place.START, made.createdAt());
        Rows.Token found = there(desk().reads.token(Desk.bytes("hash")));
        assertEquals("one", found.workspace());
        assertEquals("trigger,read", found.scopes());
        assertEquals(60, found.quotaPerMinute());
        assertEquals("usr_ann", found.madeBy());
        assertEquals("usr_ann", desk().reads.tokens(desk().ws).getFirst().madeBy());
        assertEquals(Place.START, found.createdAt());
        assertNull(desk().reads.token(Desk.bytes("other")));

        int other = desk().workspace("two").ws();
        assertFalse(desk().change(new Edit.RevokeToken(other, "tok_1", "op")), "not from another workspace");
        assertNotNull(desk().reads.token(Desk.bytes("hash")));

        long before = desk().reads.catalogChange();
        assertTrue(desk().change(new Edit.RevokeToken(desk().ws, "tok_1", "op")));
        assertTrue(desk().reads.catalogChange() > before);
        assertNull(desk().reads.token(Desk.bytes("hash")));
        assertEquals(Place.START, desk().reads.tokens(desk().ws).getFirst().revokedAt());
        assertFalse(desk().change(new Edit.RevokeToken(desk().ws, "tok_1", "op")));
        assertFalse(desk().change(new Edit.RevokeToken(desk().ws, "tok_2", "op")));
    }

    @Test
    default void a_token_with_a_known_hash_or_id_is_refused() {
        var token = new Rows.Token("tok_1", desk().ws, "one", "ci", Desk.bytes("hash"), "read", 0, 0, 0);
        assertNotNull(desk().change(new Edit.CreateToken(token)));
        var sameHash = new Rows.Token("tok_2", desk().ws, "one", "ci", Desk.bytes("hash"), "admin", 0, 0, 0);
        assertEquals(
                Nothing.NOTHING,
                desk().applyAll(new Write.Change<>(new Edit.CreateToken(sameHash)))
                        .getFirst());
        assertEquals(1, desk().reads.tokens(desk().ws).size());
    }

    @Test
    default void a_release_is_audited_with_who_and_why() {
        Wish key = desk().key("K");
        RunId run = desk().fresh(key);
        assertFalse(desk().change(new Edit.Release(desk().key("L").name(), run, desk().by("op", "no such key"))));
        assertFalse(
                desk().change(new Edit.Release(key.name(), desk().id(), desk().by("op", "the key of another run"))));
        var release = new Edit.Release(key.name(), run, desk().by("op", "why"));
        assertTrue(desk().change(release));
        assertTrue(desk().change(release), "applied again after a lost answer it answers the same");
        assertFalse(
                desk().change(new Edit.Release(key.name(), run, desk().by("op", "again"))), "it is not live any more");
        Known known = there(desk().holder(key));
        assertTrue(known.has(Known.RELEASED));
        assertEquals(Place.START, known.expiresAt());
        Rows.Audit audit = desk().reads.audit(desk().ws, null, 10).getFirst();
        assertEquals("op", audit.actor());
        assertEquals("key.release", audit.action());
        assertEquals("K", audit.target());
        assertEquals("why", audit.reason());
        assertEquals(Place.START, audit.at());
        assertEquals(1, desk().place.count("semel_audit"));
    }

    @Test
    default void a_name_whose_window_is_over_is_not_live_and_cannot_be_released() {
        Wish key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertFalse(desk().change(new Edit.Release(key.name(), run, desk().by("op", "why"))));
        assertEquals(Place.START + Desk.WINDOW, there(desk().holder(key)).expiresAt());
    }

    @Test
    default void the_expired_name_of_an_unfinished_run_is_live_and_can_be_released() {
        Wish key = desk().key("K", Known.HOLD);
        RunId run = desk().fresh(key);
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertTrue(desk().change(new Edit.Release(key.name(), run, desk().by("op", "why"))));
        assertInstanceOf(Write.Admitted.Fresh.class, desk().apply(desk().admit(desk().id(), key)));
    }

    @Test
    default void a_change_with_a_note_leaves_one_row_and_only_where_it_did_something() {
        var token = new Rows.Token("tok_1", desk().ws, "one", "ci", Desk.bytes("hash"), "read", 0, 0, 0);
        var note = new Edit.Note(desk().ws, "token.create", "tok_1", desk().by("op", "for ci"));
        var create = new Edit.Noted<>(new Edit.CreateToken(token), Objects::nonNull, note);
        assertNotNull(desk().change(create));
        assertNotNull(desk().change(create), "applied again after a lost answer it answers the same");
        var taken = new Rows.Token("tok_2", desk().ws, "one", "ci", Desk.bytes("hash"), "admin", 0, 0, 0);
        var refused = new Edit.Note(desk().ws, "token.create", "tok_2", desk().by("op", "again"));
        assertEquals(
                Nothing.NOTHING,
                desk().applyAll(new Write.Change<>(
                                new Edit.Noted<>(new Edit.CreateToken(taken), Objects::nonNull, refused)))
                        .getFirst());
        List<Rows.Audit> rows = desk().reads.audit(desk().ws, null, 10);
        assertEquals(List.of("tok_1"), rows.stream().map(Rows.Audit::target).toList());
        assertEquals("for ci", rows.getFirst().reason());
    }

    @Test
    default void a_note_beside_a_signal_to_a_run_that_is_gone_is_not_written() {
        RunId run = desk().fresh(desk().key("K"));
        var note = new Edit.Note(desk().ws, "run.decide", "K", desk().by("op", "approve"));
        Edit<Edit.Signalled> signal = new Edit.Signal(desk().ws, run, "go", "once", "{}");
        var noted = new Edit.Noted<>(signal, outcome -> outcome == Edit.Signalled.DELIVERED, note);
        assertEquals(Edit.Signalled.DELIVERED, desk().change(noted));
        desk().apply(desk().end(run));
        var late = new Edit.Note(desk().ws, "run.decide", "K", desk().by("op", "reject"));
        Edit<Edit.Signalled> second = new Edit.Signal(desk().ws, run, "go", "twice", "{}");
        assertEquals(
                Edit.Signalled.GONE,
                desk().change(new Edit.Noted<>(second, outcome -> outcome == Edit.Signalled.DELIVERED, late)));
        assertEquals(1, desk().place.count("semel_audit"));
    }

    @Test
    default void whoever_approves_begins_or_stops_a_plan_of_replays_is_in_the_audit_once() {
        RunId plan = desk().id();
        int ws = desk().ws;
        desk().change(new Edit.Replaying<>(new Replay.Lay(plan, ws, "ann", "{}", null, true)));
        desk().change(new Edit.Replaying<>(new Replay.Ready(plan, "{}")));
        for (String who : List.of("bob", "eve")) {
            desk().change(new Edit.Replaying<>(new Replay.Approve(ws, plan, desk().by(who, ""))));
        }
        for (String who : List.of("ann", "eve")) {
            desk().change(new Edit.Replaying<>(new Replay.Begin(ws, plan, "{}", desk().by(who, ""))));
        }
        for (String who : List.of("bob", "eve")) {
            desk().change(new Edit.Replaying<>(new Replay.Stop(ws, plan, desk().by(who, "enough"))));
        }
        assertEquals(
                List.of("bob replay.stop", "ann replay.apply", "bob replay.approve"),
                desk().reads.audit(ws, null, 10).stream()
                        .map(row -> row.actor() + " " + row.action())
                        .toList());
    }

    @Test
    default void audit_is_paged_newest_first() {
        for (String key : List.of("a", "b", "c")) {
            RunId run = desk().fresh(desk().key(key));
            desk().change(new Edit.Release(desk().key(key).name(), run, desk().by("op", "why")));
        }
        List<Rows.Audit> first = desk().reads.audit(desk().ws, null, 2);
        assertEquals(List.of("c", "b"), first.stream().map(Rows.Audit::target).toList());
        List<Rows.Audit> rest = desk().reads.audit(desk().ws, first.getLast().id(), 2);
        assertEquals(List.of("a"), rest.stream().map(Rows.Audit::target).toList());
        assertEquals(List.of(), desk().reads.audit(desk().ws + 1, null, 10));
    }
}
