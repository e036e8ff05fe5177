package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Admitted;
import dev.semel.store.Write.Owned;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Applying a batch twice is the same as once: this is how a COMMIT whose answer was lost is resolved. */
interface RepeatedRules {
    Desk desk();

    @Test
    default void an_admission_applied_again_is_the_same_fresh_run() {
        for (Wish[] wishes : List.of(new Wish[0], new Wish[] {desk().key("K")}, new Wish[] {
            desk().key("L"), desk().chosen("mine"), desk().payload("P", true)
        })) {
            Write.Admit admit = desk().admit(desk().id(), wishes);
            Admitted first = desk().apply(admit);
            assertEquals(first, desk().apply(admit));
            assertTrue(assertInstanceOf(Admitted.Fresh.class, first).owned());
        }
        assertEquals(3, desk().place.count("semel_run"));
        assertEquals(3, desk().place.count("semel_unfinished_run"));
        assertEquals(4, desk().place.count("semel_key"));
    }

    @Test
    default void an_applied_again_batch_decides_its_duplicates_as_before() {
        Wish key = desk().key("K");
        List<Write.Admit> batch = List.of(desk().admit(desk().id(), key), desk().admit(desk().id(), key));
        desk().applyAll(batch);
        List<Object> second = desk().applyAll(batch);
        assertInstanceOf(Admitted.Fresh.class, second.getFirst());
        Known known =
                assertInstanceOf(Admitted.Held.class, second.get(1)).known().getFirst();
        assertEquals(
                batch.getFirst().run().id(),
                assertInstanceOf(Known.class, known).run());
        assertEquals(1, desk().place.count("semel_run"));
    }

    @Test
    default void a_takeover_of_an_expired_name_applied_again_changes_nothing_more() {
        Wish key = desk().key("K", Known.HOLD | Known.RERUN_FAILED);
        RunId old = desk().fresh(key);
        desk().apply(desk().failed(old));
        Write.Admit admit = desk().again(desk().id(), old, old, key);
        desk().apply(admit);
        var again = assertInstanceOf(Admitted.Fresh.class, desk().apply(admit));
        assertTrue(again.owned());
        assertEquals(old, again.lineage());
        assertEquals(old, desk().runOf(admit.run().id()).previous());
        assertEquals(2, desk().place.count("semel_run"));
    }

    @Test
    default void an_admission_applied_again_still_knows_the_run_before_it() {
        for (String chosen : new String[] {null, "mine"}) {
            Wish key = desk().key("K " + chosen);
            RunId old = desk().id();
            desk().apply(desk().admit(desk().run(old, RunState.STARTED, chosen), List.of(key), true));
            desk().apply(desk().end(old));
            desk().change(new Edit.Release(key.name(), old, desk().by("op", "why")));
            Write.Admit admit = desk().admit(desk().id(), key);
            Admitted first = desk().apply(admit);
            assertEquals(
                    new Write.Earlier(old, chosen, false),
                    assertInstanceOf(Admitted.Fresh.class, first).earlier());
            assertEquals(first, desk().apply(admit));
        }
    }

    @Test
    default void an_admission_applied_again_after_its_run_ended_brings_no_work_back() {
        Write.Admit keyed = desk().admit(desk().id(), desk().key("K"));
        Write.Admit bare = desk().admit(desk().id());
        desk().applyAll(keyed, bare);
        desk().applyAll(desk().end(keyed.run().id()), desk().end(bare.run().id()));
        for (Object outcome : desk().applyAll(keyed, bare)) {
            assertFalse(assertInstanceOf(Admitted.Fresh.class, outcome).owned());
        }
        assertEquals(0, desk().place.count("semel_unfinished_run"));
        assertEquals(2, desk().place.count("semel_finished_run"));
    }

    @Test
    default void an_admission_applied_again_under_a_later_lease_owns_nothing() {
        Write.Admit admit = desk().admit(desk().id(), desk().key("K"));
        desk().apply(admit);
        desk().leases.end(Desk.LEASE);
        desk().leases.start(78, "desk", desk().slots(), Desk.TTL);
        Admitted again = desk().applyAs(new Batch.Hold(78, 0), admit);
        assertFalse(assertInstanceOf(Admitted.Fresh.class, again).owned());
        assertEquals(List.of(admit.run().id()), Desk.runs(desk().applyAs(new Batch.Hold(78, 0), new Write.Claim(5))));
    }

    @Test
    default void an_append_applied_again_is_one_chunk() {
        RunId run = desk().fresh();
        Write.Append append = desk().append(run, 0, "[1]");
        assertEquals(Owned.RECORDED, desk().apply(append));
        assertEquals(Owned.RECORDED, desk().apply(append));
        assertEquals(List.of("[1]"), desk().journal(run));
    }

    @Test
    default void an_end_applied_again_is_the_same_end() {
        RunId run = desk().fresh();
        assertEquals(Owned.RECORDED, desk().apply(desk().end(run)));
        Rows.Run ended = desk().runOf(run);
        desk().place.advance(Duration.ofSeconds(1));
        assertEquals(Owned.RECORDED, desk().apply(desk().end(run)));
        assertEquals(ended, desk().runOf(run));
    }

    @Test
    default void a_batch_of_append_and_end_applied_again_is_recorded() {
        RunId run = desk().fresh();
        List<Write<?>> batch = List.of(desk().append(run, 0, "[1]"), desk().end(run));
        assertEquals(List.of(Owned.RECORDED, Owned.RECORDED), desk().applyAll(batch));
        assertEquals(Owned.RECORDED, desk().applyAll(batch).get(1), "the end is on record");
        assertEquals(List.of("[1]"), desk().journal(run));
        assertEquals(1, desk().place.count("semel_finished_run"));
    }

    @Test
    default void a_tally_applied_again_counts_once() {
        RunId run = desk().fresh(desk().key("K"));
        Write.Tally tally = new Write.Tally(
                List.of(desk().seen(run, false, 1), desk().seen(run, false, 700), desk().seen(run, true, 1)));
        desk().apply(tally);
        desk().apply(tally);
        assertEquals(
                new Rows.Counts(701, 1, desk().place.time()), desk().runOf(run).counts());
        assertEquals(3, desk().place.count("semel_duplicate_request"));
    }

    @Test
    default void a_tally_applied_again_together_with_new_rows_counts_only_those() {
        RunId run = desk().fresh(desk().key("K"));
        Write.Seen first = desk().seen(run, false, 5);
        desk().apply(new Write.Tally(List.of(first)));
        desk().apply(new Write.Tally(List.of(first, desk().seen(run, false, 3))));
        assertEquals(8, desk().runOf(run).counts().replays());
    }

    @Test
    default void a_claim_applied_again_takes_the_next_runs_and_loses_none() {
        RunId one = desk().id();
        RunId two = desk().id();
        desk().applyAll(
                        desk().admit(desk().run(one), List.of(), false),
                        desk().admit(desk().run(two), List.of(), false));
        assertEquals(List.of(one), Desk.runs(desk().apply(new Write.Claim(1))));
        assertEquals(List.of(two), Desk.runs(desk().apply(new Write.Claim(1))));
        assertEquals(List.of(), Desk.runs(desk().apply(new Write.Claim(1))));
        assertEquals(1, Desk.claims(desk().runOf(one)));
    }

    @Test
    default void changes_applied_again_change_nothing_more() {
        Wish key = desk().key("K");
        RunId run = desk().fresh(key);
        var token = new Rows.Token("tok_1", desk().ws, "one", "ci", Desk.bytes("hash"), "read", 0, 0, 0);
        List<Edit<?>> edits = List.of(
                new Edit.OpenWorkspace("two", Desk.bytes("x")),
                new Edit.Publish(desk().ws, "two", "wf_two", "text", "tester"),
                new Edit.PublishOver(
                        new Edit.Publish(desk().ws, "two", "wf_two", "text 2", "tester"), null, new Edit.Footing(1, 0)),
                new Edit.Pause(desk().ws, Desk.WORKFLOW, true),
                new Edit.CreateToken(token),
                new Edit.RevokeToken(desk().ws, "tok_1", "op"),
                new Edit.Release(key.name(), run, desk().by("op", "why")));
        for (Edit<?> edit : edits) {
            desk().change(edit);
            desk().change(edit);
        }
        assertEquals(2, desk().place.count("semel_workspace"));
        assertEquals(3, desk().place.count("semel_workflow_version"));
        assertEquals(1, desk().place.count("semel_token"));
        assertEquals(2, desk().place.count("semel_audit"), "one for the token, one for the key");
        assertTrue(assertInstanceOf(Rows.Workflow.class, desk().reads.workflow(desk().ws, "one"))
                .paused());
        assertNotNull(desk().holder(key));
    }
}
