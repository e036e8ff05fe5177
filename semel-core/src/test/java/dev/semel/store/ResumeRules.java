package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
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

    TestStoreClient client();

    private RunId failed(RunDeduplicationKeyClaim... claims) {
        RunId run = client().fresh(claims);
        client().apply(client().append(run, 0, "[0]"));
        client().apply(client().failed(run));
        return run;
    }

    private RunDeduplicationKeyClaim follows(RunId run, int end) {
        return client().claim(
                        RunDeduplicationKey.KeyKind.REPLAY,
                        run.text() + (end == 0 ? "" : "." + end),
                        RunDeduplicationKeyRecord.HOLD);
    }

    private StoreWriteCommand.ResumeFailedRun resume(
            RunId run, int end, List<StartConditions.QueueLimit> queueLimits, EffectLedger.LedgerOperation... ops) {
        DatabaseRows.RunEnd runEnd = client().runOf(run).end();
        return new StoreWriteCommand.ResumeFailedRun(
                client().ws,
                run,
                runEnd == null ? 0 : runEnd.endedAt(),
                follows(run, end),
                CLAIMS * (end + 1),
                client().journal(run).size(),
                "[\"resumed\"]",
                queueLimits,
                List.of(ops),
                client().by("ann", "mended"));
    }

    private StoreWriteCommand.ResumeFailedRun resume(RunId run) {
        return resume(run, 0, List.of());
    }

    private long audited(RunId run) {
        return client().reads.audit(client().ws, null, 100).stream()
                .filter(row -> row.action().equals("run.resume") && row.target().equals(run.text()))
                .count();
    }

    @Test
    default void a_resumed_failed_run_is_active_again_and_its_journal_continues() {
        RunId run = failed(client().key("k"));
        assertEquals(ResumeResult.DONE, client().change(resume(run)));
        DatabaseRows.RunRow row = client().runOf(run);
        assertNull(row.end());
        assertEquals(RunState.RUNNING, row.state());
        assertEquals(List.of("[0]", "[\"resumed\"]"), client().journal(run));
        assertEquals(1, audited(run));
        RunExecution driver = new RunExecution(run, CLAIMS + 1);
        assertEquals(List.of(driver), client().claim());
        assertEquals(StoreWrite.OwnerWriteResult.RECORDED, client().apply(client().end(driver)));
        assertEquals(RunState.COMPLETED, client().runOf(run).state());
    }

    @Test
    default void a_resume_applied_again_returns_the_same() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun resume = resume(run);
        assertEquals(ResumeResult.DONE, client().change(resume));
        assertEquals(ResumeResult.DONE, client().change(resume));
        client().apply(client().end(client().claim().getFirst()));
        assertEquals(ResumeResult.DONE, client().change(resume));
        assertEquals(RunState.COMPLETED, client().runOf(run).state());
        assertEquals(1, audited(run));
        assertEquals(2, client().journal(run).size());
    }

    @Test
    default void of_two_users_who_saw_the_same_end_one_resumes() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun one = resume(run);
        StoreWriteCommand.ResumeFailedRun other = resume(run);
        assertEquals(ResumeResult.DONE, client().change(one));
        assertEquals(ResumeResult.MOVED, client().change(other));
        assertEquals(1, audited(run));
    }

    @Test
    default void a_user_who_saw_the_first_end_cannot_resume_after_the_second() {
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun late = resume(run);
        client().change(resume(run));
        RunExecution driver = client().claim().getFirst();
        client().apply(new StoreWrite.EndRun(
                driver,
                RunState.FAILED,
                new StoreWrite.RunResult(null, "broken", "again", "pay"),
                "[]",
                List.of(),
                false));
        assertEquals(late.endedAt(), resume(run, 1, List.of()).endedAt(), "in the same microsecond");
        assertEquals(ResumeResult.FOLLOWED, client().change(late));
        assertEquals(RunState.FAILED, client().runOf(run).state());
        assertEquals(ResumeResult.DONE, client().change(resume(run, 1, List.of())));
        assertEquals(List.of(new RunExecution(run, 2 * CLAIMS + 1)), client().claim());
    }

    @Test
    default void only_a_failed_run_of_the_workspace_can_be_resumed() {
        RunId working = client().fresh();
        assertEquals(ResumeResult.MOVED, client().change(resume(working)));
        RunId completed = client().fresh();
        client().apply(client().end(completed));
        assertEquals(ResumeResult.MOVED, client().change(resume(completed)));
        RunId run = failed();
        StoreWriteCommand.ResumeFailedRun right = resume(run);
        int other = client().workspace("two").ws();
        assertEquals(
                ResumeResult.MOVED,
                client().change(new StoreWriteCommand.ResumeFailedRun(
                        other,
                        run,
                        right.endedAt(),
                        right.followClaim(),
                        right.firstClaim(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        client().by("eve", ""))));
        client().fixture.advance(java.time.Duration.ofSeconds(1));
        assertEquals(
                ResumeResult.MOVED,
                client().change(new StoreWriteCommand.ResumeFailedRun(
                        client().ws,
                        run,
                        right.endedAt() + 1,
                        right.followClaim(),
                        right.firstClaim(),
                        right.seq(),
                        right.entries(),
                        List.of(),
                        List.of(),
                        client().by("ann", ""))));
        assertEquals(0, audited(run));
        assertEquals(ResumeResult.DONE, client().change(right));
    }

    @Test
    default void an_end_is_followed_by_a_replay_or_a_resume_and_never_both() {
        RunId run = failed();
        RunId replay = client().id();
        NewRun made = client().linked(replay, new NewRun.RunParentage(run, null, run), null, RunState.STARTED);
        client().apply(client().admit(made, List.of(follows(run, 0)), true));
        assertEquals(ResumeResult.FOLLOWED, client().change(resume(run)));
        assertEquals(RunState.FAILED, client().runOf(run).state());
        assertEquals(List.of("[0]"), client().journal(run));
        RunId other = failed();
        client().change(resume(other));
        NewRun late =
                client().linked(client().id(), new NewRun.RunParentage(other, null, other), null, RunState.STARTED);
        StoreWrite.AdmitResult admitResult = client().apply(client().admit(late, List.of(follows(other, 0)), true));
        RunDeduplicationKeyRecord holder = assertInstanceOf(StoreWrite.AdmitResult.KeysHeld.class, admitResult)
                .keyRecords()
                .getFirst();
        assertNotNull(holder);
        assertEquals(other, holder.run());
    }

    @Test
    default void a_replay_without_a_key_also_blocks_the_resume() {
        RunId run = failed();
        NewRun made = client().linked(client().id(), new NewRun.RunParentage(run, null, run), null, RunState.STARTED);
        client().apply(client().admit(made, List.of(), true));
        assertEquals(ResumeResult.FOLLOWED, client().change(resume(run)));
    }

    @Test
    default void a_key_freed_by_failure_returns_to_the_run_or_goes_to_the_next() {
        int flags = RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED;
        RunId first = failed(client().key("a", flags));
        RunId next = client().id();
        client().apply(client().again(next, first, first, client().key("a", flags)));
        assertEquals(first, client().runOf(next).lineage());
        assertEquals(ResumeResult.FOLLOWED, client().change(resume(first)), "another run took its place");
        RunId second = failed(client().key("b", flags));
        assertEquals(ResumeResult.DONE, client().change(resume(second)));
        StoreWrite.AdmitResult admitResult = client().apply(client().admit(client().id(), client().key("b", flags)));
        assertInstanceOf(
                StoreWrite.AdmitResult.KeysHeld.class, admitResult, "it is being executed, and its key stands for it");
    }

    @Test
    default void an_execution_from_before_the_end_no_longer_writes() {
        RunId run = failed();
        client().change(resume(run));
        client().claim();
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, client().apply(client().append(run, 2, "[2]")));
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, client().apply(client().failed(run)));
        assertEquals(RunState.RUNNING, client().runOf(run).state());
    }

    @Test
    default void a_resumed_run_enters_its_queues_again() {
        var queueLimit = new StartConditions.QueueLimit("Q", 1);
        var conditions = new StartConditions(List.of(queueLimit), null, 0, null);
        RunId run = client().id();
        client().apply(client().gated(run, conditions));
        client().claim();
        RunId behind = client().id();
        client().apply(client().gated(behind, conditions));
        client().apply(client().failed(run));
        RunExecution second = client().claim().getFirst();
        assertEquals(behind, second.run());
        assertEquals(ResumeResult.DONE, client().change(resume(run, 0, List.of(queueLimit))));
        assertEquals(RunState.QUEUED, client().runOf(run).state());
        assertEquals(List.of(), client().claim());
        client().apply(client().end(second));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), client().claim());
        assertEquals(List.of("Q"), client().reads.queuesOf(run));
    }

    @Test
    default void a_rejected_resume_leaves_no_queue_entry() {
        RunId run = client().fresh();
        assertEquals(
                ResumeResult.MOVED, client().change(resume(run, 0, List.of(new StartConditions.QueueLimit("Q", 1)))));
        RunId first = client().id();
        client().apply(client().gated(
                        first, new StartConditions(List.of(new StartConditions.QueueLimit("Q", 1)), null, 0, null)));
        assertTrue(TestStoreClient.runs(client().claim()).contains(first));
    }

    @Test
    default void a_resumed_run_waits_while_its_workflow_is_paused() {
        RunId run = failed();
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        assertEquals(ResumeResult.DONE, client().change(resume(run)));
        assertEquals(RunState.QUEUED, client().runOf(run).state());
        assertEquals(List.of(), client().claim());
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false));
        assertEquals(List.of(new RunExecution(run, CLAIMS + 1)), client().claim());
    }

    @Test
    default void the_decision_on_its_effect_commits_with_the_resume() {
        TestEffect effect = TestEffect.of(client().ws, "charge");
        RunId run = client().fresh();
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        client().apply(TestStoreClient.ops(run, effect.settle(run, EffectLedger.EffectState.FREE, null)));
        client().apply(client().failed(run));
        EffectLedger.EffectRow free = client().reads.effect(effect.id());
        assertNotNull(free);
        var settleSend = new EffectLedger.SettleSend(
                free.id(), free.holder(), EffectLedger.EffectState.DONE, "{\"by\":\"hand\"}");
        StoreWriteCommand.ResumeFailedRun resume = resume(run, 0, List.of(), settleSend);
        client().change(resume);
        EffectLedger.EffectRow done = client().reads.effect(effect.id());
        assertNotNull(done);
        assertEquals(EffectLedger.EffectState.DONE, done.state());
        assertEquals("{\"by\":\"hand\"}", done.result());
        client().change(resume);
        assertEquals(done, client().reads.effect(effect.id()));
    }

    @Test
    default void a_resumed_run_registers_its_signal_waits_again() {
        RunId run = client().fresh();
        KeyedSignalStoreWriteCommand.SignalAddress to =
                new KeyedSignalStoreWriteCommand.SignalAddress(client().ws, "paid", "order_1");
        client().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                to, new KeyedSignalStoreWriteCommand.SignalWaiter(new RunExecution(run, 1), "wait"), false, 0)));
        client().apply(client().failed(run));
        client().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to, "letter", client().id(), TestStoreClient.bytes("d"), "{}")));
        client().change(resume(run));
        RunExecution driver = client().claim().getFirst();
        client().change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                to, new KeyedSignalStoreWriteCommand.SignalWaiter(driver, "wait"), false, 0)));
        assertEquals(1, client().reads.signals(run).size(), "the letter that came in between");
    }

    @Test
    default void a_resumed_run_is_not_removed_by_retention() {
        RunId run = failed();
        client().change(resume(run));
        client().fixture.advance(java.time.Duration.ofDays(1));
        long now = client().fixture.time();
        assertEquals(0, client().change(new StoreWriteCommand.DeleteRuns(List.of(run), now)));
        assertEquals(0, client().change(new StoreWriteCommand.ErasePayloads(List.of(run), now)));
        assertFalse(client().journal(run).isEmpty());
    }
}
