package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectGeneration;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.ChangePolicy;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ledger answers in the same commit as the journal: who may send, who did, who is in doubt. */
interface LedgerRules {
    long HOUR = 3_600_000_000L;

    /** The first generation of an effect with a window. */
    int FIRST = EffectGeneration.first(StoreFixture.START);

    LedgerDecision NOTED = new LedgerDecision.Recorded();

    TestStoreClient client();

    private TestEffect effect() {
        return TestEffect.of(client().ws, "d1").once(HOUR);
    }

    private LedgerDecision ask(StoreWrite.AppendJournal append) {
        OwnerWriteResult owned = client().apply(append);
        assertTrue(owned.recorded());
        return owned.ledgerDecisions().getFirst();
    }

    private LedgerDecision ask(RunId run, TestEffect effect) {
        return ask(TestStoreClient.ops(run, effect.reserve(run)));
    }

    private EffectLedger.EffectRow row(TestEffect effect) {
        EffectLedger.EffectRow row = client().reads.effect(effect.id());
        assertNotNull(row);
        return row;
    }

    /** A run that has done the effect. */
    private RunId doer(TestEffect effect) {
        RunId run = client().fresh();
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        client().apply(TestStoreClient.ops(run, effect.done(run)));
        return run;
    }

    @Test
    default void the_first_request_may_send_and_its_intent_is_recorded() {
        RunId run = client().fresh();
        assertEquals(new LedgerDecision.SendGranted(FIRST, 1, StoreFixture.START, false), ask(run, effect()));
        assertEquals(
                new EffectLedger.EffectRow(
                        effect().id(),
                        TestEffect.holder(run, 1, 1),
                        EffectState.RESERVED,
                        FIRST,
                        1,
                        StoreFixture.START,
                        0,
                        HOUR,
                        0,
                        "data",
                        null,
                        TestEffect.FACTS,
                        new EffectLedger.LastSend(
                                TestEffect.sentKey(effect().id(), FIRST), StoreFixture.START, "{\"content\":1}")),
                row(effect()));
        assertEquals(List.of(row(effect())), client().reads.effects(run));
    }

    @Test
    default void a_reservation_applied_again_is_the_same_reservation() {
        RunId run = client().fresh();
        StoreWrite.AppendJournal reserve = TestStoreClient.ops(run, effect().reserve(run));
        LedgerDecision first = ask(reserve);
        client().fixture.setTime(StoreFixture.START + 9);
        assertEquals(first, ask(reserve));
        assertEquals(StoreFixture.START, row(effect()).firstAt());
    }

    @Test
    default void a_settlement_applied_again_is_the_same_settlement() {
        RunId run = doer(effect());
        EffectLedger.EffectRow done = row(effect());
        assertEquals(EffectState.DONE, done.state());
        assertEquals("{\"by\":1}", done.result());
        assertEquals(StoreFixture.START + HOUR, done.expiresAt());
        client().fixture.setTime(StoreFixture.START + 9);
        assertEquals(NOTED, ask(TestStoreClient.ops(run, effect().done(run))));
        assertEquals(done, row(effect()));
    }

    @Test
    default void a_write_that_settles_and_reserves_again_may_be_applied_twice() {
        RunId run = client().fresh();
        ask(run, effect());
        StoreWrite.AppendJournal retry = TestStoreClient.ops(
                run, effect().settle(run, EffectState.FREE, null), effect().reserve(TestEffect.holder(run, 1, 2)));
        OwnerWriteResult first = client().apply(retry);
        assertEquals(
                List.of(NOTED, new LedgerDecision.SendGranted(FIRST, 2, StoreFixture.START, false)),
                first.ledgerDecisions());
        LedgerDecision again = client().apply(retry).ledgerDecisions().getLast();
        assertEquals(
                new LedgerDecision.SendGranted(FIRST, 2, StoreFixture.START, true),
                again,
                "what was before is not known any more");
        assertEquals(2, row(effect()).attempt());
    }

    @Test
    default void an_effect_reserved_or_in_doubt_by_another_run_is_held_by_it() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        ask(one, effect());
        assertEquals(new LedgerDecision.HeldByOtherRun(one, false), ask(two, effect()));
        client().apply(TestStoreClient.ops(one, effect().settle(one, EffectState.UNKNOWN, null)));
        client().fixture.setTime(StoreFixture.START + 365 * 24 * HOUR);
        assertEquals(new LedgerDecision.HeldByOtherRun(one, true), ask(two, effect()), "what is unknown never expires");
    }

    @Test
    default void a_done_effect_is_suppressed_until_the_end_of_its_window() {
        RunId first = doer(effect());
        RunId second = client().fresh();
        client().fixture.setTime(StoreFixture.START + HOUR - 1);
        assertEquals(new LedgerDecision.Suppressed("{\"by\":1}", first, StoreFixture.START), ask(second, effect()));
        client().fixture.setTime(StoreFixture.START + HOUR);
        assertEquals(
                new LedgerDecision.SendGranted(FIRST + 1, 1, StoreFixture.START + HOUR, false), ask(second, effect()));
        assertEquals(second, row(effect()).holder().run());
    }

    @Test
    default void other_data_inside_the_window_follow_the_change_policy() {
        RunId first = doer(effect());
        RunId second = client().fresh();
        assertEquals(
                new LedgerDecision.DataChanged(first, StoreFixture.START, "{\"content\":1}"),
                ask(second, effect().with(ChangePolicy.REVIEW, "other")),
                "with the data that were accepted");
        assertEquals(
                new LedgerDecision.Suppressed("{\"by\":1}", first, StoreFixture.START),
                ask(second, effect().with(ChangePolicy.SUPPRESS, "other")));
        assertEquals(
                new LedgerDecision.SendGranted(FIRST + 1, 1, StoreFixture.START, false),
                ask(second, effect().with(ChangePolicy.SEND, "other")));
    }

    @Test
    default void an_unsent_effect_is_free_for_the_next_run() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        ask(one, effect());
        client().apply(TestStoreClient.ops(one, effect().settle(one, EffectState.FREE, null)));
        assertEquals(new LedgerDecision.SendGranted(FIRST, 1, StoreFixture.START, false), ask(two, effect()));
        client().apply(TestStoreClient.ops(one, effect().done(one)));
        assertEquals(EffectState.RESERVED, row(effect()).state(), "who does not hold it settles nothing");
    }

    @Test
    default void a_done_step_is_reused_for_ever() {
        RunId run = doer(effect());
        client().fixture.setTime(StoreFixture.START + 2 * HOUR);
        assertEquals(new LedgerDecision.Reused("{\"by\":1}"), ask(run, effect()));
    }

    @Test
    default void an_own_send_without_a_result_is_unknown_unless_the_provider_still_knows_the_key() {
        RunId run = client().fresh();
        ask(run, effect());
        client().change(new StoreWriteCommand.ReturnRun(new RunExecution(run, 1)));
        RunExecution second = client().claim().getFirst();
        var holder = TestEffect.holder(run, second.claim(), 1);
        assertEquals(
                new LedgerDecision.OutcomeUnknown(FIRST, 1, StoreFixture.START, false),
                ask(TestStoreClient.ops(second, effect().reserve(holder))));
        TestEffect remembered = effect().resendFor(100);
        client().fixture.setTime(StoreFixture.START + 99);
        assertEquals(
                new LedgerDecision.SendGranted(FIRST, 2, StoreFixture.START, true),
                ask(TestStoreClient.ops(second, remembered.reserve(holder))));
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(
                new LedgerDecision.OutcomeUnknown(FIRST, 2, StoreFixture.START, false),
                ask(TestStoreClient.ops(second, remembered.reserve(TestEffect.holder(run, second.claim(), 2)))));
    }

    @Test
    default void ledger_decisions_come_in_the_order_of_the_operations() {
        RunId other = doer(effect());
        RunId run = client().fresh();
        TestEffect late = TestEffect.of(client().ws, "d0");
        OwnerWriteResult owned = client().apply(TestStoreClient.ops(
                run,
                effect().reserve(run),
                late.reserve(run),
                late.done(run),
                late.reserve(TestEffect.holder(run, 1, 2))));
        assertEquals(
                List.of(
                        new LedgerDecision.Suppressed("{\"by\":1}", other, StoreFixture.START),
                        new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false),
                        NOTED,
                        new LedgerDecision.Reused("{\"by\":1}")),
                owned.ledgerDecisions());
        assertEquals(EffectState.DONE, row(late).state());
    }

    @Test
    default void of_many_requests_in_one_batch_one_may_send() {
        RunId[] runs = {client().fresh(), client().fresh(), client().fresh()};
        StoreWrite<?>[] storeWrites = new StoreWrite<?>[runs.length];
        for (int i = 0; i < runs.length; i++) {
            storeWrites[i] = TestStoreClient.ops(
                    runs[i], TestEffect.of(client().ws, "own" + i).reserve(runs[i]), effect().reserve(runs[i]));
        }
        for (int round = 0; round < 2; round++) {
            List<LedgerDecision> verdicts = client().decided(storeWrites).stream()
                    .map(outcome ->
                            ((OwnerWriteResult) outcome).ledgerDecisions().get(1))
                    .toList();
            assertEquals(
                    List.of(
                            new LedgerDecision.SendGranted(FIRST, 1, StoreFixture.START, false),
                            new LedgerDecision.HeldByOtherRun(runs[0], false),
                            new LedgerDecision.HeldByOtherRun(runs[0], false)),
                    verdicts,
                    "also when it is applied again");
        }
    }

    @Test
    default void one_batch_may_release_reserve_and_end_in_sequence() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        ask(one, effect());
        List<Object> outcomes = client().decided(
                        TestStoreClient.ops(one, effect().settle(one, EffectState.FREE, null)),
                        TestStoreClient.ops(two, effect().reserve(two)),
                        client().end(new RunExecution(two, 1), effect().done(two)),
                        client().end(new RunExecution(one, 1)));
        assertEquals(
                List.of(new LedgerDecision.SendGranted(FIRST, 1, StoreFixture.START, false)),
                ((OwnerWriteResult) outcomes.get(1)).ledgerDecisions());
        assertEquals(two, row(effect()).holder().run());
        assertEquals(EffectState.DONE, row(effect()).state());
        assertEquals(2, client().fixture.count("semel_finished_run"));
    }

    @Test
    default void an_end_settles_in_its_own_commit_once() {
        RunId run = client().fresh();
        ask(run, effect());
        StoreWrite.EndRun end = client().end(new RunExecution(run, 1), effect().settle(run, EffectState.FREE, null));
        assertEquals(new OwnerWriteResult(true, false, List.of(NOTED)), client().apply(end));
        RunId next = client().fresh();
        ask(next, effect());
        assertTrue(client().apply(end).recorded(), "applied again it is on record");
        assertEquals(next, row(effect()).holder().run(), "and takes nothing from the next");
    }

    @Test
    default void a_worker_that_does_not_own_the_run_changes_nothing_in_the_ledger() {
        RunId run = client().fresh();
        var old = new RunExecution(run, 1);
        client().change(new StoreWriteCommand.ReturnRun(old));
        RunExecution now = client().claim().getFirst();
        assertEquals(OwnerWriteResult.FENCED, client().apply(TestStoreClient.ops(old, effect().reserve(run))));
        assertEquals(
                OwnerWriteResult.FENCED,
                client().apply(TestStoreClient.ops(new RunExecution(run, 3), effect().reserve(run))));
        assertEquals(OwnerWriteResult.FENCED, client().apply(client().end(old, effect().reserve(run))));
        assertEquals(OwnerWriteResult.FENCED, client().applyAs(null, TestStoreClient.ops(now, effect().reserve(run))));
        assertNull(client().reads.effect(effect().id()));
        assertEquals(RunState.STARTED, client().runOf(run).state());
    }

    @Test
    default void a_note_is_written_once_and_found_by_its_step() {
        RunId run = client().fresh();
        assertEquals(NOTED, ask(TestStoreClient.ops(run, effect().note(run))));
        EffectLedger.EffectRow noted = row(effect());
        assertEquals(EffectState.DONE, noted.state());
        client().fixture.setTime(StoreFixture.START + 9);
        client().apply(TestStoreClient.ops(run, effect().note(run)));
        assertEquals(noted, row(effect()));
        assertEquals(new LedgerDecision.Reused("{\"noted\":1}"), ask(run, effect()));
    }

    @Test
    default void a_user_decides_an_effect_in_doubt_once() {
        RunId run = client().fresh();
        ask(run, effect());
        var decide = new StoreWriteCommand.DecideEffect(
                effect().id(), run, "{\"seen\":1}", client().by("op", "the bank says so"));
        assertFalse(client().change(decide), "it is on its way, not in doubt");
        var by = new RunExecution(run, 1);
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        EffectLedger.LedgerOperation doubt = effect().settle(run, EffectState.UNKNOWN, null);
        client().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.IN_DOUBT, List.of(doubt), rest));
        assertEquals(List.of(), client().claim());
        assertFalse(
                client().change(new StoreWriteCommand.DecideEffect(
                        effect().id(), client().fresh(), null, client().by("op", ""))),
                "another run's");
        assertTrue(client().change(decide));
        assertTrue(client().change(decide), "applied again after a lost answer it answers the same");
        assertFalse(
                client().change(new StoreWriteCommand.DecideEffect(effect().id(), run, null, client().by("op", "no"))));
        assertEquals(1, client().fixture.count("semel_audit"));
        RunExecution next = client().claim().getFirst();
        assertEquals(run, next.run());
        assertEquals(
                new LedgerDecision.Reused("{\"seen\":1}"),
                ask(TestStoreClient.ops(next, effect().reserve(TestEffect.holder(run, next.claim(), 1)))));
    }

    @Test
    default void a_decision_during_a_suspension_is_not_missed() {
        RunId run = client().fresh();
        ask(run, effect());
        client().apply(TestStoreClient.ops(run, effect().settle(run, EffectState.UNKNOWN, null)));
        assertTrue(client().change(new StoreWriteCommand.DecideEffect(
                effect().id(), run, null, client().by("op", "nothing arrived"))));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        client().apply(new StoreWrite.AppendJournal(
                new RunExecution(run, 1), 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(List.of(new RunExecution(run, 2)), client().claim());
    }

    @Test
    default void an_effect_decided_as_not_happened_may_be_sent_again() {
        RunId run = client().fresh();
        ask(run, effect());
        client().apply(TestStoreClient.ops(run, effect().settle(run, EffectState.UNKNOWN, null)));
        assertTrue(client().change(new StoreWriteCommand.DecideEffect(
                effect().id(), run, null, client().by("op", "nothing arrived"))));
        assertEquals(
                new LedgerDecision.SendGranted(FIRST, 2, StoreFixture.START, false),
                ask(TestStoreClient.ops(run, effect().reserve(TestEffect.holder(run, 1, 2)))));
    }

    @Test
    default void effects_are_listed_newest_first_and_by_state() {
        RunId run = doer(effect());
        client().fixture.setTime(StoreFixture.START + 1);
        TestEffect other = TestEffect.of(client().ws, "d2");
        ask(run, other);
        assertEquals(List.of(row(other), row(effect())), listed(StoreQueries.EffectFilter.all(client().ws, 10)));
        assertEquals(List.of(row(effect())), listed(StoreQueries.EffectFilter.in(client().ws, EffectState.DONE, 10)));
        assertEquals(List.of(row(other)), listed(StoreQueries.EffectFilter.all(client().ws, 1)));
    }

    private List<EffectLedger.EffectRow> listed(StoreQueries.EffectFilter filter) {
        return client().reads.effects(filter).found();
    }

    @Test
    default void a_filter_applies_before_paging() {
        TestEffect other = TestEffect.of(client().ws, "a0");
        TestEffect effect = TestEffect.of(client().ws, "d2");
        RunId run = doer(other);
        for (int i = 0; i < 5; i++) {
            RunId later = doer(effect());
            client().apply(TestStoreClient.ops(
                    later, TestEffect.of(client().ws, "n" + i).note(later)));
            client().fixture.setTime(client().fixture.time() + 2 * HOUR);
        }
        RunId late = client().fresh();
        client().apply(TestStoreClient.ops(late, effect.suppressed(late)));
        RunId last = doer(effect());
        client().apply(TestStoreClient.ops(
                last, TestEffect.of(client().ws, "n9").note(last)));
        StoreQueries.EffectFilter page = StoreQueries.EffectFilter.all(client().ws, 2);
        assertEquals(List.of(row(effect)), listed(page.selection(StoreQueries.EffectSelection.SUPPRESSED)));
        assertEquals(
                List.of(row(effect()), row(other)),
                listed(page.selection(StoreQueries.EffectSelection.NOT_SUPPRESSED)),
                "notes are no effects");
        assertEquals(List.of(), listed(page.key("another key")));
        assertEquals(
                List.of(row(effect)), listed(page.key("the key").selection(StoreQueries.EffectSelection.SUPPRESSED)));
        assertEquals(run, row(other).holder().run());
    }

    @Test
    default void a_suppressed_effect_is_still_listed_after_its_payload_is_deleted() {
        RunId run = client().fresh();
        TestEffect note = TestEffect.of(client().ws, "n1");
        TestEffect effect = TestEffect.of(client().ws, "s1");
        client().apply(TestStoreClient.ops(run, note.note(run), effect.suppressed(run)));
        client().apply(client().end(run));
        assertEquals(1, client().change(new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 1)));
        assertNull(row(effect).result());
        assertEquals("run_x 17", row(effect).suppressedBy());
        assertTrue(row(note).isStepNote());
        assertEquals(List.of(row(effect)), listed(StoreQueries.EffectFilter.all(client().ws, 9)));
    }

    @Test
    default void an_attempt_that_a_crash_cut_off_is_in_the_history_once() {
        RunId run = client().fresh();
        TestEffect resent = TestEffect.of(client().ws, "r1").resendFor(HOUR);
        ask(run, resent);
        client().fixture.setTime(StoreFixture.START + 9);
        StoreWrite.AppendJournal again = TestStoreClient.ops(run, resent.reserve(TestEffect.holder(run, 1, 2)));
        ask(again);
        ask(again);
        EffectLedger.EffectRow lost = client().reads.pastEffects(run).getFirst();
        assertEquals(1, client().reads.pastEffects(run).size(), "also when it is applied again");
        assertEquals(EffectState.RESERVED, lost.state());
        assertEquals(StoreFixture.START, lost.lastSend().at());
        assertEquals(StoreFixture.START + 9, row(resent).lastSend().at());
        assertEquals(TestEffect.sentKey(resent.id(), 1), lost.lastSend().key());
        assertEquals(lost.lastSend().key(), row(resent).lastSend().key(), "the same key again");
        ask(TestStoreClient.ops(run, resent.settle(TestEffect.holder(run, 1, 3), EffectState.UNKNOWN, null)));
        assertEquals(2, client().reads.pastEffects(run).size(), "settled by another execution");
    }

    @Test
    default void a_send_is_found_by_the_key_that_the_provider_received() {
        TestEffect once = effect();
        RunId first = client().fresh();
        client().apply(TestStoreClient.ops(first, once.reserve(first)));
        String sent = TestEffect.sentKey(once.id(), FIRST);
        TestEffect noted = TestEffect.of(client().ws, "note of " + first);
        client().apply(TestStoreClient.ops(
                first,
                once.done(first),
                new EffectLedger.NoteStepResult(
                        noted.id(),
                        TestEffect.holder(first, 1, 1),
                        "1",
                        TestEffect.FACTS,
                        new EffectLedger.NotedSend(sent, FIRST, 1))));
        assertEquals(List.of(row(once)), found(sent, false), "once, although the step has a note");
        client().fixture.setTime(StoreFixture.START + 2 * HOUR);
        RunId second = doer(once);
        assertEquals(List.of(row(noted)), found(sent, false), "the row has moved on to another run");
        assertEquals(
                List.of(row(once)),
                found(TestEffect.sentKey(once.id(), row(once).generation()), false));
        assertEquals(second, row(once).holder().run());
        assertEquals(List.of(), found("another", false));
    }

    @Test
    default void a_send_of_an_earlier_run_of_the_lineage_is_found_until_the_run_is_deleted() {
        RunId first = client().fresh();
        RunId second = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "r2");
        ask(TestStoreClient.ops(first, effect.reserve(TestEffect.in(first, first))));
        ask(TestStoreClient.ops(first, effect.settle(TestEffect.in(first, first), EffectState.FREE, null)));
        ask(TestStoreClient.ops(second, effect.reserve(TestEffect.in(first, second))));
        ask(TestStoreClient.ops(second, effect.settle(TestEffect.in(first, second), EffectState.DONE, "1")));
        String sent = TestEffect.sentKey(effect.id(), 1);
        assertEquals(List.of(row(effect)), found(sent, false));
        assertEquals(client().reads.pastEffects(first), found(sent, true));
        assertEquals(1, found(sent, true).size());
        client().apply(client().end(first));
        client().fixture.setTime(StoreFixture.START + HOUR);
        client().change(new StoreWriteCommand.DeleteRuns(List.of(first), StoreFixture.START + HOUR));
        assertEquals(List.of(), found(sent, true));
    }

    private List<EffectLedger.EffectRow> found(String sentKey, boolean past) {
        return client().reads.effectsBySentKey(client().ws, sentKey, 9).stream()
                .filter(one -> one.past() == past)
                .map(StoreQueries.SentEffect::row)
                .toList();
    }
}
