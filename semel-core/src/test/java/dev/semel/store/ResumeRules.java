package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit.Resumed;
import dev.semel.store.Write.Driver;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run that failed goes on in place: its end is taken back, once, and by nobody else than who saw it. */
interface ResumeRules {
    int CLAIMS = 1 << 24;

    Desk desk();

    private RunId failed(Wish... wishes) {
        RunId run = desk().fresh(wishes);
        desk().apply(desk().append(run, 0, "[0]"));
        desk().apply(desk().failed(run));
        return run;
    }

    private Wish follows(RunId run, int end) {
        return desk().wish(Name.Kind.REPLAY, run.text() + (end == 0 ? "" : "." + end), Known.HOLD);
    }

    private Edit.Resume resume(RunId run, int end, List<NewRun.Gate.Place> places, Ledger.Op... ops) {
        Rows.End seen = desk().runOf(run).end();
        return new Edit.Resume(
                desk().ws,
                run,
                seen == null ? 0 : seen.endedAt(),
                follows(run, end),
                CLAIMS * (end + 1),
                desk().journal(run).size(),
                "[\"resumed\"]",
                places,
                List.of(ops),
                desk().by("ann", "mended"));
    }

    private Edit.Resume resume(RunId run) {
        return resume(run, 0, List.of());
    }

    private long audited(RunId run) {
        return desk().reads.audit(desk().ws, null, 100).stream()
                .filter(row -> row.action().equals("run.resume") && row.target().equals(run.text()))
                .count();
    }

    @Test
    default void a_run_that_failed_is_at_work_again_and_its_journal_goes_on() {
        RunId run = failed(desk().key("k"));
        assertEquals(Resumed.DONE, desk().change(resume(run)));
        Rows.Run row = desk().runOf(run);
        assertNull(row.end());
        assertEquals(RunState.RUNNING, row.state());
        assertEquals(List.of("[0]", "[\"resumed\"]"), desk().journal(run));
        assertEquals(1, audited(run));
        Driver driver = new Driver(run, CLAIMS + 1);
        assertEquals(List.of(driver), desk().claim());
        assertEquals(Write.Owned.RECORDED, desk().apply(desk().end(driver)));
        assertEquals(RunState.COMPLETED, desk().runOf(run).state());
    }

    @Test
    default void applied_again_it_answers_the_same_whatever_became_of_the_run() {
        RunId run = failed();
        Edit.Resume resume = resume(run);
        assertEquals(Resumed.DONE, desk().change(resume));
        assertEquals(Resumed.DONE, desk().change(resume));
        desk().apply(desk().end(desk().claim().getFirst()));
        assertEquals(Resumed.DONE, desk().change(resume));
        assertEquals(RunState.COMPLETED, desk().runOf(run).state());
        assertEquals(1, audited(run));
        assertEquals(2, desk().journal(run).size());
    }

    @Test
    default void of_two_who_saw_the_same_end_one_takes_it_back() {
        RunId run = failed();
        Edit.Resume one = resume(run);
        Edit.Resume other = resume(run);
        assertEquals(Resumed.DONE, desk().change(one));
        assertEquals(Resumed.MOVED, desk().change(other));
        assertEquals(1, audited(run));
    }

    @Test
    default void who_saw_the_first_end_does_not_take_back_the_second() {
        RunId run = failed();
        Edit.Resume late = resume(run);
        desk().change(resume(run));
        Driver driver = desk().claim().getFirst();
        desk().apply(new Write.End(
                driver, RunState.FAILED, new Write.Ending(null, "broken", "again", "pay"), "[]", List.of()));
        assertEquals(late.endedAt(), resume(run, 1, List.of()).endedAt(), "in the same microsecond");
        assertEquals(Resumed.FOLLOWED, desk().change(late));
        assertEquals(RunState.FAILED, desk().runOf(run).state());
        assertEquals(Resumed.DONE, desk().change(resume(run, 1, List.of())));
        assertEquals(List.of(new Driver(run, 2 * CLAIMS + 1)), desk().claim());
    }

    @Test
    default void only_a_run_of_the_workspace_that_failed_then_goes_on() {
        RunId working = desk().fresh();
        assertEquals(Resumed.MOVED, desk().change(resume(working)));
        RunId completed = desk().fresh();
        desk().apply(desk().end(completed));
        assertEquals(Resumed.MOVED, desk().change(resume(completed)));
        RunId run = failed();
        Edit.Resume right = resume(run);
        int other = desk().workspace("two").ws();
        assertEquals(
                Resumed.MOVED,
                desk().change(new Edit.Resume(
                        other,
                        run,
                        right.endedAt(),
                        right.name(),
                        right.claims(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        desk().by("eve", ""))));
        desk().place.advance(java.time.Duration.ofSeconds(1));
        assertEquals(
                Resumed.MOVED,
                desk().change(new Edit.Resume(
                        desk().ws,
                        run,
                        right.endedAt() + 1,
                        right.name(),
                        right.claims(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        desk().by("ann", ""))));
        assertEquals(0, audited(run));
        assertEquals(Resumed.DONE, desk().change(right));
    }

    @Test
    default void an_end_is_followed_by_a_replay_or_in_place_and_never_by_both() {
        RunId run = failed();
        RunId replay = desk().id();
        NewRun made = desk().linked(replay, new NewRun.Links(run, null, run), null, RunState.STARTED);
        desk().apply(desk().admit(made, List.of(follows(run, 0)), true));
        assertEquals(Resumed.FOLLOWED, desk().change(resume(run)));
        assertEquals(RunState.FAILED, desk().runOf(run).state());
        assertEquals(List.of("[0]"), desk().journal(run));
        RunId other = failed();
        desk().change(resume(other));
        NewRun late = desk().linked(desk().id(), new NewRun.Links(other, null, other), null, RunState.STARTED);
        Write.Admitted told = desk().apply(desk().admit(late, List.of(follows(other, 0)), true));
        Known holder = assertInstanceOf(Write.Admitted.Held.class, told).known().getFirst();
        assertNotNull(holder);
        assertEquals(other, holder.run());
    }

    @Test
    default void a_replay_without_a_name_stands_in_the_way_too() {
        RunId run = failed();
        NewRun made = desk().linked(desk().id(), new NewRun.Links(run, null, run), null, RunState.STARTED);
        desk().apply(desk().admit(made, List.of(), true));
        assertEquals(Resumed.FOLLOWED, desk().change(resume(run)));
    }

    @Test
    default void a_key_that_failure_frees_belongs_to_the_run_again_or_to_the_next_one() {
        int flags = Known.HOLD | Known.RERUN_FAILED;
        RunId first = failed(desk().key("a", flags));
        RunId next = desk().id();
        desk().apply(desk().again(next, first, first, desk().key("a", flags)));
        assertEquals(first, desk().runOf(next).lineage());
        assertEquals(Resumed.FOLLOWED, desk().change(resume(first)), "another run took its place");
        RunId second = failed(desk().key("b", flags));
        assertEquals(Resumed.DONE, desk().change(resume(second)));
        Write.Admitted told = desk().apply(desk().admit(desk().id(), desk().key("b", flags)));
        assertInstanceOf(Write.Admitted.Held.class, told, "it is being driven, and its key stands for it");
    }

    @Test
    default void an_execution_from_before_the_end_writes_nothing_any_more() {
        RunId run = failed();
        desk().change(resume(run));
        desk().claim();
        assertEquals(Write.Owned.FENCED, desk().apply(desk().append(run, 2, "[2]")));
        assertEquals(Write.Owned.FENCED, desk().apply(desk().failed(run)));
        assertEquals(RunState.RUNNING, desk().runOf(run).state());
    }

    @Test
    default void it_goes_through_its_queues_again() {
        var place = new NewRun.Gate.Place("Q", 1);
        var gate = new NewRun.Gate(List.of(place), null, 0, null);
        RunId run = desk().id();
        desk().apply(desk().gated(run, gate));
        desk().claim();
        RunId behind = desk().id();
        desk().apply(desk().gated(behind, gate));
        desk().apply(desk().failed(run));
        Driver second = desk().claim().getFirst();
        assertEquals(behind, second.run());
        assertEquals(Resumed.DONE, desk().change(resume(run, 0, List.of(place))));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().apply(desk().end(second));
        assertEquals(List.of(new Driver(run, CLAIMS + 1)), desk().claim());
        assertEquals(List.of("Q"), desk().reads.queues(run));
    }

    @Test
    default void a_refusal_leaves_no_queue_behind() {
        RunId run = desk().fresh();
        assertEquals(Resumed.MOVED, desk().change(resume(run, 0, List.of(new NewRun.Gate.Place("Q", 1)))));
        RunId first = desk().id();
        desk().apply(desk().gated(first, new NewRun.Gate(List.of(new NewRun.Gate.Place("Q", 1)), null, 0, null)));
        assertTrue(Desk.runs(desk().claim()).contains(first));
    }

    @Test
    default void while_its_workflow_is_paused_it_waits() {
        RunId run = failed();
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, true));
        assertEquals(Resumed.DONE, desk().change(resume(run)));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().change(new Edit.Pause(desk().ws, Desk.WORKFLOW, false));
        assertEquals(List.of(new Driver(run, CLAIMS + 1)), desk().claim());
    }

    @Test
    default void what_a_person_says_of_its_effect_is_one_commit_with_it() {
        Deed deed = Deed.of(desk().ws, "charge");
        RunId run = desk().fresh();
        desk().apply(Desk.ops(run, deed.reserve(run)));
        desk().apply(Desk.ops(run, deed.settle(run, Ledger.State.FREE, null)));
        desk().apply(desk().failed(run));
        Ledger.Row free = desk().reads.effect(deed.id());
        assertNotNull(free);
        var said = new Ledger.Settle(free.id(), free.holder(), Ledger.State.DONE, "{\"by\":\"hand\"}");
        Edit.Resume resume = resume(run, 0, List.of(), said);
        desk().change(resume);
        Ledger.Row done = desk().reads.effect(deed.id());
        assertNotNull(done);
        assertEquals(Ledger.State.DONE, done.state());
        assertEquals("{\"by\":\"hand\"}", done.result());
        desk().change(resume);
        assertEquals(done, desk().reads.effect(deed.id()));
    }

    @Test
    default void what_it_listened_for_it_asks_for_again() {
        RunId run = desk().fresh();
        Letter.Address to = new Letter.Address(desk().ws, "paid", "order_1");
        desk().change(new Edit.Mail<>(new Letter.Listen(to, new Letter.Ear(new Driver(run, 1), "wait"), false)));
        desk().apply(desk().failed(run));
        desk().change(new Edit.Mail<>(new Letter.Post(to, "letter", desk().id(), Desk.bytes("d"), "{}")));
        desk().change(resume(run));
        Driver driver = desk().claim().getFirst();
        desk().change(new Edit.Mail<>(new Letter.Listen(to, new Letter.Ear(driver, "wait"), false)));
        assertEquals(1, desk().reads.signals(run).size(), "the letter that came in between");
    }

    @Test
    default void a_run_that_goes_on_is_not_removed() {
        RunId run = failed();
        desk().change(resume(run));
        desk().place.advance(java.time.Duration.ofDays(1));
        long now = desk().place.time();
        assertEquals(0, desk().change(new Edit.DeleteRuns(List.of(run), now)));
        assertEquals(0, desk().change(new Edit.BlankRuns(List.of(run), now)));
        assertFalse(desk().journal(run).isEmpty());
    }
}
