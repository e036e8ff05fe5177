package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectLedger;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.StoreCommand.ResumeResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run that failed goes on in place: its end is taken back, once, and by nobody else than who saw it. */
interface ResumeRules {
    int CLAIMS = 1 << 24;

    Desk desk();

    private RunId failed(KeyClaim... wishes) {
        RunId run = desk().fresh(wishes);
        desk().apply(desk().append(run, 0, "[0]"));
        desk().apply(desk().failed(run));
        return run;
    }

    private KeyClaim follows(RunId run, int end) {
        return desk().wish(UniqueKey.KeyKind.REPLAY, run.text() + (end == 0 ? "" : "." + end), KeyRecord.HOLD);
    }

    private StoreCommand.ResumeFailedRun resume(RunId run, int end, List<NewRun.StartConditions.QueueLimit> places, EffectLedger.LedgerOperation... ops) {
        StoredRows.RunEnd seen = desk().runOf(run).end();
        return new StoreCommand.ResumeFailedRun(
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

    private StoreCommand.ResumeFailedRun resume(RunId run) {
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
        assertEquals(ResumeResult.DONE, desk().change(resume(run)));
        StoredRows.RunRow row = desk().runOf(run);
        assertNull(row.end());
        assertEquals(RunState.RUNNING, row.state());
        assertEquals(List.of("[0]", "[\"resumed\"]"), desk().journal(run));
        assertEquals(1, audited(run));
        RunExecution driver = new RunExecution(run, CLAIMS + 1);
        assertEquals(List.of(driver), desk().claim());
        assertEquals(StoreWrite.OwnerWriteResult.RECORDED, desk().apply(desk().end(driver)));
        assertEquals(RunState.COMPLETED, desk().runOf(run).state());
    }

    @Test
    default void applied_again_it_answers_the_same_whatever_became_of_the_run() {
        RunId run = failed();
        StoreCommand.ResumeFailedRun resume = resume(run);
        assertEquals(ResumeResult.DONE, desk().change(resume));
        assertEquals(ResumeResult.DONE, desk().change(resume));
        desk().apply(desk().end(desk().claim().getFirst()));
        assertEquals(ResumeResult.DONE, desk().change(resume));
        assertEquals(RunState.COMPLETED, desk().runOf(run).state());
        assertEquals(1, audited(run));
        assertEquals(2, desk().journal(run).size());
    }

    @Test
    default void of_two_who_saw_the_same_end_one_takes_it_back() {
        RunId run = failed();
        StoreCommand.ResumeFailedRun one = resume(run);
        StoreCommand.ResumeFailedRun other = resume(run);
        assertEquals(ResumeResult.DONE, desk().change(one));
        assertEquals(ResumeResult.MOVED, desk().change(other));
        assertEquals(1, audited(run));
    }

    @Test
    default void who_saw_the_first_end_does_not_take_back_the_second() {
        RunId run = failed();
        StoreCommand.ResumeFailedRun late = resume(run);
        desk().change(resume(run));
        RunExecution driver = desk().claim().getFirst();
        desk().apply(new StoreWrite.EndRun(
                driver, RunState.FAILED, new StoreWrite.RunResult(null, "broken", "again", "pay"), "[]", List.of()));
        assertEquals(late.endedAt(), resume(run, 1, List.of()).endedAt(), "in the same microsecond");
        assertEquals(ResumeResult.FOLLOWED, desk().change(late));
        assertEquals(RunState.FAILED, desk().runOf(run).state());
        assertEquals(ResumeResult.DONE, desk().change(resume(run, 1, List.of())));
        assertEquals(List.of(new RunExecution(run, 2 * CLAIMS + 1)), desk().claim());
    }

    @Test
    default void only_a_run_of_the_workspace_that_failed_then_goes_on() {
        RunId working = desk().fresh();
        assertEquals(ResumeResult.MOVED, desk().change(resume(working)));
        RunId completed = desk().fresh();
        desk().apply(desk().end(completed));
        assertEquals(ResumeResult.MOVED, desk().change(resume(completed)));
        RunId run = failed();
        StoreCommand.ResumeFailedRun right = resume(run);
        int other = desk().workspace("two").ws();
        assertEquals(
                ResumeResult.MOVED,
                desk().change(new StoreCommand.ResumeFailedRun(
                        other,
                        run,
                        right.endedAt(),
                        right.followClaim(),
                        right.firstClaim(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        desk().by("eve", ""))));
        desk().place.advance(java.time.Duration.ofSeconds(1));
        assertEquals(
                ResumeResult.MOVED,
                desk().change(new StoreCommand.ResumeFailedRun(
                        desk().ws,
                        run,
                        right.endedAt() + 1,
                        right.followClaim(),
                        right.firstClaim(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        desk().by("ann", ""))));
        assertEquals(0, audited(run));
        assertEquals(ResumeResult.DONE, desk().change(right));
    }

    @Test
    default void an_end_is_followed_by_a_replay_or_in_place_and_never_by_both() {
        RunId run = failed();
        RunId replay = desk().id();
        NewRun made = desk().linked(replay, new NewRun.RunParentage(run, null, run), null, RunState.STARTED);
        desk().apply(desk().admit(made, List.of(follows(run, 0)), true));
        assertEquals(ResumeResult.FOLLOWED, desk().change(resume(run)));
        assertEquals(RunState.FAILED, desk().runOf(run).state());
        assertEquals(List.of("[0]"), desk().journal(run));
        RunId other = failed();
        desk().change(resume(other));
        NewRun late = desk().linked(desk().id(), new NewRun.RunParentage(other, null, other), null, RunState.STARTED);
        StoreWrite.AdmitResult told = desk().apply(desk().admit(late, List.of(follows(other, 0)), true));
        KeyRecord holder = assertInstanceOf(StoreWrite.AdmitResult.KeysHeld.class, told).keyRecords().getFirst();
        assertNotNull(holder);
        assertEquals(other, holder.run());
    }

    @Test
    default void a_replay_without_a_name_stands_in_the_way_too() {
        RunId run = failed();
        NewRun made = desk().linked(desk().id(), new NewRun.RunParentage(run, null, run), null, RunState.STARTED);
        desk().apply(desk().admit(made, List.of(), true));
        assertEquals(ResumeResult.FOLLOWED, desk().change(resume(run)));
    }

    @Test
    default void a_key_that_failure_frees_belongs_to_the_run_again_or_to_the_next_one() {
        int flags = KeyRecord.HOLD | KeyRecord.RERUN_FAILED;
        RunId first = failed(desk().key("a", flags));
        RunId next = desk().id();
        desk().apply(desk().again(next, first, first, desk().key("a", flags)));
        assertEquals(first, desk().runOf(next).lineage());
        assertEquals(ResumeResult.FOLLOWED, desk().change(resume(first)), "another run took its place");
        RunId second = failed(desk().key("b", flags));
        assertEquals(ResumeResult.DONE, desk().change(resume(second)));
        StoreWrite.AdmitResult told = desk().apply(desk().admit(desk().id(), desk().key("b", flags)));
        assertInstanceOf(StoreWrite.AdmitResult.KeysHeld.class, told, "it is being driven, and its key stands for it");
    }

    @Test
    default void an_execution_from_before_the_end_writes_nothing_any_more() {
        RunId run = failed();
        desk().change(resume(run));
        desk().claim();
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, desk().apply(desk().append(run, 2, "[2]")));
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, desk().apply(desk().failed(run)));
        assertEquals(RunState.RUNNING, desk().runOf(run).state());
    }

    @Test
    default void it_goes_through_its_queues_again() {
        var place = new NewRun.StartConditions.QueueLimit("Q", 1);
        var gate = new NewRun.StartConditions(List.of(place), null, 0, null);
        RunId run = desk().id();
        desk().apply(desk().gated(run, gate));
        desk().claim();
        RunId behind = desk().id();
        desk().apply(desk().gated(behind, gate));
        desk().apply(desk().failed(run));
        RunExecution second = desk().claim().getFirst();
        assertEquals(behind, second.run());
        assertEquals(ResumeResult.DONE, desk().change(resume(run, 0, List.of(place))));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().apply(desk().end(second));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), desk().claim());
        assertEquals(List.of("Q"), desk().reads.queuesOf(run));
    }

    @Test
    default void a_refusal_leaves_no_queue_behind() {
        RunId run = desk().fresh();
        assertEquals(ResumeResult.MOVED, desk().change(resume(run, 0, List.of(new NewRun.StartConditions.QueueLimit("Q", 1)))));
        RunId first = desk().id();
        desk().apply(desk().gated(first, new NewRun.StartConditions(List.of(new NewRun.StartConditions.QueueLimit("Q", 1)), null, 0, null)));
        assertTrue(Desk.runs(desk().claim()).contains(first));
    }

    @Test
    default void while_its_workflow_is_paused_it_waits() {
        RunId run = failed();
        desk().change(new StoreCommand.PauseWorkflow(desk().ws, Desk.WORKFLOW, true));
        assertEquals(ResumeResult.DONE, desk().change(resume(run)));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().change(new StoreCommand.PauseWorkflow(desk().ws, Desk.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), desk().claim());
    }

    @Test
    default void what_a_person_says_of_its_effect_is_one_commit_with_it() {
        Deed deed = Deed.of(desk().ws, "charge");
        RunId run = desk().fresh();
        desk().apply(Desk.ops(run, deed.reserve(run)));
        desk().apply(Desk.ops(run, deed.settle(run, EffectLedger.EffectState.FREE, null)));
        desk().apply(desk().failed(run));
        EffectLedger.EffectRow free = desk().reads.effect(deed.id());
        assertNotNull(free);
        var said = new EffectLedger.SettleSend(free.id(), free.holder(), EffectLedger.EffectState.DONE, "{\"by\":\"hand\"}");
        StoreCommand.ResumeFailedRun resume = resume(run, 0, List.of(), said);
        desk().change(resume);
        EffectLedger.EffectRow done = desk().reads.effect(deed.id());
        assertNotNull(done);
        assertEquals(EffectLedger.EffectState.DONE, done.state());
        assertEquals("{\"by\":\"hand\"}", done.result());
        desk().change(resume);
        assertEquals(done, desk().reads.effect(deed.id()));
    }

    @Test
    default void what_it_listened_for_it_asks_for_again() {
        RunId run = desk().fresh();
        KeyedSignalOperation.SignalAddress to = new KeyedSignalOperation.SignalAddress(desk().ws, "paid", "order_1");
        desk().change(new StoreCommand.KeyedSignalCommand<>(new KeyedSignalOperation.StartListening(to, new KeyedSignalOperation.SignalWaiter(new RunExecution(run, 1), "wait"), false)));
        desk().apply(desk().failed(run));
        desk().change(new StoreCommand.KeyedSignalCommand<>(new KeyedSignalOperation.SendKeyedSignal(to, "letter", desk().id(), Desk.bytes("d"), "{}")));
        desk().change(resume(run));
        RunExecution driver = desk().claim().getFirst();
        desk().change(new StoreCommand.KeyedSignalCommand<>(new KeyedSignalOperation.StartListening(to, new KeyedSignalOperation.SignalWaiter(driver, "wait"), false)));
        assertEquals(1, desk().reads.signals(run).size(), "the letter that came in between");
    }

    @Test
    default void a_run_that_goes_on_is_not_removed() {
        RunId run = failed();
        desk().change(resume(run));
        desk().place.advance(java.time.Duration.ofDays(1));
        long now = desk().place.time();
        assertEquals(0, desk().change(new StoreCommand.DeleteRuns(List.of(run), now)));
        assertEquals(0, desk().change(new StoreCommand.ErasePayloads(List.of(run), now)));
        assertFalse(desk().journal(run).isEmpty());
    }
}
