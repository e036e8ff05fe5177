package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.RunExecution;
import dev.semel.store.StoreWriteCommand.ResumeResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run that failed goes on in place: its end is taken back, once, and by nobody else than who saw it. */
interface ResumeRules {
    int CLAIMS = 1 << 24;

    TestStoreClient desk();

    private RunId failed(RunDeduplicationKeyClaim... claims) {
        RunId run = desk().fresh(claims);
        desk().apply(desk().append(run, 0, "[0]"));
        desk().apply(desk().failed(run));
        return run;
    }

    private RunDeduplicationKeyClaim follows(RunId run, int end) {
        return desk().wish(
                        RunDeduplicationKey.KeyKind.REPLAY,
                        run.text() + (end == 0 ? "" : "." + end),
                        RunDeduplicationKeyRecord.HOLD);
    }

    private StoreWriteCommand.ResumeFailedRun resume(
            RunId run,
            int end,
            List<NewRun.StartConditions.QueueLimit> queueLimits,
            EffectLedger.LedgerOperation... ops) {
        DatabaseRows.RunEnd runEnd = desk().runOf(run).end();
        return new StoreWriteCommand.ResumeFailedRun(
                desk().ws,
                run,
                runEnd == null ? 0 : runEnd.endedAt(),
                follows(run, end),
                CLAIMS * (end + 1),
                desk().journal(run).size(),
                "[\"resumed\"]",
                queueLimits,
                List.of(ops),
                desk().by("ann", "mended"));
    }

    private StoreWriteCommand.ResumeFailedRun resume(RunId run) {
        return resume(run, 0, List.of());
    }

    private long audited(RunId run) {
        return desk().reads.audit(desk().ws, null, 100).stream()
                .filter(row -> row.action().equals("run.resume") && row.target().equals(run.text()))
                .count();
    }

    @Test
    default void a_resumed_failed_run_is_active_again_and_its_journal_continues() {
        RunId run = failed(desk().key("k"));
        assertEquals(ResumeResult.DONE, desk().change(resume(run)));
        DatabaseRows.RunRow row = desk().runOf(run);
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
    default void a_resume_applied_again_returns_the_same() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun resume = resume(run);
        assertEquals(ResumeResult.DONE, desk().change(resume));
        assertEquals(ResumeResult.DONE, desk().change(resume));
        desk().apply(desk().end(desk().claim().getFirst()));
        assertEquals(ResumeResult.DONE, desk().change(resume));
        assertEquals(RunState.COMPLETED, desk().runOf(run).state());
        assertEquals(1, audited(run));
        assertEquals(2, desk().journal(run).size());
    }

    @Test
    default void of_two_users_who_saw_the_same_end_one_resumes() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun one = resume(run);
        StoreWriteCommand.ResumeFailedRun other = resume(run);
        assertEquals(ResumeResult.DONE, desk().change(one));
        assertEquals(ResumeResult.MOVED, desk().change(other));
        assertEquals(1, audited(run));
    }

    @Test
    default void a_user_who_saw_the_first_end_cannot_resume_after_the_second() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun late = resume(run);
        desk().change(resume(run));
        RunExecution driver = desk().claim().getFirst();
        desk().apply(new StoreWrite.EndRun(
                driver,
                RunState.FAILED,
                new StoreWrite.RunResult(null, "broken", "again", "pay"),
                "[]",
                List.of(),
                false));
        assertEquals(late.endedAt(), resume(run, 1, List.of()).endedAt(), "in the same microsecond");
        assertEquals(ResumeResult.FOLLOWED, desk().change(late));
        assertEquals(RunState.FAILED, desk().runOf(run).state());
        assertEquals(ResumeResult.DONE, desk().change(resume(run, 1, List.of())));
        assertEquals(List.of(new RunExecution(run, 2 * CLAIMS + 1)), desk().claim());
    }

    @Test
    default void only_a_failed_run_of_the_workspace_can_be_resumed() {
        RunId working = desk().fresh();
        assertEquals(ResumeResult.MOVED, desk().change(resume(working)));
        RunId completed = desk().fresh();
        desk().apply(desk().end(completed));
        assertEquals(ResumeResult.MOVED, desk().change(resume(completed)));
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun right = resume(run);
        int other = desk().workspace("two").ws();
        assertEquals(
                ResumeResult.MOVED,
                desk().change(new StoreWriteCommand.ResumeFailedRun(
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
        desk().fixture.advance(java.time.Duration.ofSeconds(1));
        assertEquals(
                ResumeResult.MOVED,
                desk().change(new StoreWriteCommand.ResumeFailedRun(
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
    default void an_end_is_followed_by_a_replay_or_a_resume_and_never_both() {
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
        StoreWrite.AdmitResult admitResult = desk().apply(desk().admit(late, List.of(follows(other, 0)), true));
        RunDeduplicationKeyRecord holder = assertInstanceOf(StoreWrite.AdmitResult.KeysHeld.class, admitResult)
                .keyRecords()
                .getFirst();
        assertNotNull(holder);
        assertEquals(other, holder.run());
    }

    @Test
    default void a_replay_without_a_key_also_blocks_the_resume() {
        RunId run = failed();
        NewRun made = desk().linked(desk().id(), new NewRun.RunParentage(run, null, run), null, RunState.STARTED);
        desk().apply(desk().admit(made, List.of(), true));
        assertEquals(ResumeResult.FOLLOWED, desk().change(resume(run)));
    }

    @Test
    default void a_key_freed_by_failure_returns_to_the_run_or_goes_to_the_next() {
        int flags = RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED;
        RunId first = failed(desk().key("a", flags));
        RunId next = desk().id();
        desk().apply(desk().again(next, first, first, desk().key("a", flags)));
        assertEquals(first, desk().runOf(next).lineage());
        assertEquals(ResumeResult.FOLLOWED, desk().change(resume(first)), "another run took its place");
        RunId second = failed(desk().key("b", flags));
        assertEquals(ResumeResult.DONE, desk().change(resume(second)));
        StoreWrite.AdmitResult admitResult = desk().apply(desk().admit(desk().id(), desk().key("b", flags)));
        assertInstanceOf(
                StoreWrite.AdmitResult.KeysHeld.class, admitResult, "it is being driven, and its key stands for it");
    }

    @Test
    default void an_execution_from_before_the_end_no_longer_writes() {
        RunId run = failed();
        desk().change(resume(run));
        desk().claim();
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, desk().apply(desk().append(run, 2, "[2]")));
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, desk().apply(desk().failed(run)));
        assertEquals(RunState.RUNNING, desk().runOf(run).state());
    }

    @Test
    default void a_resumed_run_enters_its_queues_again() {
        var queueLimit = new NewRun.StartConditions.QueueLimit("Q", 1);
        var conditions = new NewRun.StartConditions(List.of(queueLimit), null, 0, null);
        RunId run = desk().id();
        desk().apply(desk().gated(run, conditions));
        desk().claim();
        RunId behind = desk().id();
        desk().apply(desk().gated(behind, conditions));
        desk().apply(desk().failed(run));
        RunExecution second = desk().claim().getFirst();
        assertEquals(behind, second.run());
        assertEquals(ResumeResult.DONE, desk().change(resume(run, 0, List.of(queueLimit))));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().apply(desk().end(second));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), desk().claim());
        assertEquals(List.of("Q"), desk().reads.queuesOf(run));
    }

    @Test
    default void a_rejected_resume_leaves_no_queue_entry() {
        RunId run = desk().fresh();
        assertEquals(
                ResumeResult.MOVED,
                desk().change(resume(run, 0, List.of(new NewRun.StartConditions.QueueLimit("Q", 1)))));
        RunId first = desk().id();
        desk().apply(desk().gated(
                        first,
                        new NewRun.StartConditions(
                                List.of(new NewRun.StartConditions.QueueLimit("Q", 1)), null, 0, null)));
        assertTrue(TestStoreClient.runs(desk().claim()).contains(first));
    }

    @Test
    default void a_resumed_run_waits_while_its_workflow_is_paused() {
        RunId run = failed();
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        assertEquals(ResumeResult.DONE, desk().change(resume(run)));
        assertEquals(RunState.QUEUED, desk().runOf(run).state());
        assertEquals(List.of(), desk().claim());
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), desk().claim());
    }

    @Test
    default void the_decision_on_its_effect_commits_with_the_resume() {
        TestEffect effect = TestEffect.of(desk().ws, "charge");
        RunId run = desk().fresh();
        desk().apply(TestStoreClient.ops(run, effect.reserve(run)));
        desk().apply(TestStoreClient.ops(run, effect.settle(run, EffectLedger.EffectState.FREE, null)));
        desk().apply(desk().failed(run));
        EffectLedger.EffectRow free = desk().reads.effect(effect.id());
        assertNotNull(free);
        var settleSend = new EffectLedger.SettleSend(
                free.id(), free.holder(), EffectLedger.EffectState.DONE, "{\"by\":\"hand\"}");
        StoreWriteCommand.ResumeFailedRun resume = resume(run, 0, List.of(), settleSend);
        desk().change(resume);
        EffectLedger.EffectRow done = desk().reads.effect(effect.id());
        assertNotNull(done);
        assertEquals(EffectLedger.EffectState.DONE, done.state());
        assertEquals("{\"by\":\"hand\"}", done.result());
        desk().change(resume);
        assertEquals(done, desk().reads.effect(effect.id()));
    }

    @Test
    default void a_resumed_run_registers_its_signal_waits_again() {
        RunId run = desk().fresh();
        KeyedSignalStoreWriteCommand.SignalAddress to =
                new KeyedSignalStoreWriteCommand.SignalAddress(desk().ws, "paid", "order_1");
        desk().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                to, new KeyedSignalStoreWriteCommand.SignalWaiter(new RunExecution(run, 1), "wait"), false, 0)));
        desk().apply(desk().failed(run));
        desk().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to, "letter", desk().id(), TestStoreClient.bytes("d"), "{}")));
        desk().change(resume(run));
        RunExecution driver = desk().claim().getFirst();
        desk().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                to, new KeyedSignalStoreWriteCommand.SignalWaiter(driver, "wait"), false, 0)));
        assertEquals(1, desk().reads.signals(run).size(), "the letter that came in between");
    }

    @Test
    default void a_resumed_run_is_not_removed_by_retention() {
        RunId run = failed();
        desk().change(resume(run));
        desk().fixture.advance(java.time.Duration.ofDays(1));
        long now = desk().fixture.time();
        assertEquals(0, desk().change(new StoreWriteCommand.DeleteRuns(List.of(run), now)));
        assertEquals(0, desk().change(new StoreWriteCommand.ErasePayloads(List.of(run), now)));
        assertFalse(desk().journal(run).isEmpty());
    }
}
