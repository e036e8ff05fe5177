package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
    LedgerDecision NOTED = new LedgerDecision.Recorded();

    TestStoreClient desk();

    private TestEffect deed() {
        return TestEffect.of(desk().ws, "d1").once(HOUR);
    }

    private LedgerDecision ask(StoreWrite.AppendJournal append) {
        OwnerWriteResult owned = desk().apply(append);
        assertTrue(owned.recorded());
        return owned.ledgerDecisions().getFirst();
    }

    private LedgerDecision ask(RunId run, TestEffect effect) {
        return ask(TestStoreClient.ops(run, effect.reserve(run)));
    }

    private EffectLedger.EffectRow row(TestEffect effect) {
        EffectLedger.EffectRow row = desk().reads.effect(effect.id());
        assertNotNull(row);
        return row;
    }

    /** A run that has done the deed. */
    private RunId doer(TestEffect effect) {
        RunId run = desk().fresh();
        desk().apply(TestStoreClient.ops(run, effect.reserve(run)));
        desk().apply(TestStoreClient.ops(run, effect.done(run)));
        return run;
    }

    @Test
    default void the_first_request_may_send_and_its_intent_is_recorded() {
        RunId run = desk().fresh();
        assertEquals(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false), ask(run, deed()));
        assertEquals(
                new EffectLedger.EffectRow(
                        deed().id(),
                        TestEffect.holder(run, 1, 1),
                        EffectState.RESERVED,
                        1,
                        1,
                        StoreFixture.START,
                        0,
                        HOUR,
                        0,
                        "data",
                        null,
                        TestEffect.FACTS),
                row(deed()));
        assertEquals(List.of(row(deed())), desk().reads.effects(run));
    }

    @Test
    default void a_reservation_applied_again_is_the_same_reservation() {
        RunId run = desk().fresh();
        StoreWrite.AppendJournal reserve = TestStoreClient.ops(run, deed().reserve(run));
        LedgerDecision first = ask(reserve);
        desk().fixture.setTime(StoreFixture.START + 9);
        assertEquals(first, ask(reserve));
        assertEquals(StoreFixture.START, row(deed()).firstAt());
    }

    @Test
    default void a_settlement_applied_again_is_the_same_settlement() {
        RunId run = doer(deed());
        EffectLedger.EffectRow done = row(deed());
        assertEquals(EffectState.DONE, done.state());
        assertEquals("{\"by\":1}", done.result());
        assertEquals(StoreFixture.START + HOUR, done.expiresAt());
        desk().fixture.setTime(StoreFixture.START + 9);
        assertEquals(NOTED, ask(TestStoreClient.ops(run, deed().done(run))));
        assertEquals(done, row(deed()));
    }

    @Test
    default void a_write_that_settles_and_reserves_again_may_be_applied_twice() {
        RunId run = desk().fresh();
        ask(run, deed());
        StoreWrite.AppendJournal retry = TestStoreClient.ops(
                run, deed().settle(run, EffectState.FREE, null), deed().reserve(TestEffect.holder(run, 1, 2)));
        OwnerWriteResult first = desk().apply(retry);
        assertEquals(
                List.of(NOTED, new LedgerDecision.SendGranted(1, 2, StoreFixture.START, false)),
                first.ledgerDecisions());
        LedgerDecision again = desk().apply(retry).ledgerDecisions().getLast();
        assertEquals(
                new LedgerDecision.SendGranted(1, 2, StoreFixture.START, true),
                again,
                "what was before is not known any more");
        assertEquals(2, row(deed()).attempt());
    }

    @Test
    default void an_effect_reserved_or_in_doubt_by_another_run_is_held_by_it() {
        RunId one = desk().fresh();
        RunId two = desk().fresh();
        ask(one, deed());
        assertEquals(new LedgerDecision.HeldByOtherRun(one, false), ask(two, deed()));
        desk().apply(TestStoreClient.ops(one, deed().settle(one, EffectState.UNKNOWN, null)));
        desk().fixture.setTime(StoreFixture.START + 365 * 24 * HOUR);
        assertEquals(new LedgerDecision.HeldByOtherRun(one, true), ask(two, deed()), "what is unknown never expires");
    }

    @Test
    default void a_done_effect_is_suppressed_until_the_end_of_its_window() {
        RunId first = doer(deed());
        RunId second = desk().fresh();
        desk().fixture.setTime(StoreFixture.START + HOUR - 1);
        assertEquals(new LedgerDecision.Suppressed("{\"by\":1}", first, StoreFixture.START), ask(second, deed()));
        desk().fixture.setTime(StoreFixture.START + HOUR);
        assertEquals(new LedgerDecision.SendGranted(2, 1, StoreFixture.START + HOUR, false), ask(second, deed()));
        assertEquals(second, row(deed()).holder().run());
    }

    @Test
    default void other_data_inside_the_window_follow_the_change_policy() {
        RunId first = doer(deed());
        RunId second = desk().fresh();
        assertEquals(new LedgerDecision.DataChanged(first), ask(second, deed().with(ChangePolicy.REVIEW, "other")));
        assertEquals(
                new LedgerDecision.Suppressed("{\"by\":1}", first, StoreFixture.START),
                ask(second, deed().with(ChangePolicy.SUPPRESS, "other")));
        assertEquals(
                new LedgerDecision.SendGranted(2, 1, StoreFixture.START, false),
                ask(second, deed().with(ChangePolicy.SEND, "other")));
    }

    @Test
    default void an_unsent_effect_is_free_for_the_next_run() {
        RunId one = desk().fresh();
        RunId two = desk().fresh();
        ask(one, deed());
        desk().apply(TestStoreClient.ops(one, deed().settle(one, EffectState.FREE, null)));
        assertEquals(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false), ask(two, deed()));
        desk().apply(TestStoreClient.ops(one, deed().done(one)));
        assertEquals(EffectState.RESERVED, row(deed()).state(), "who does not hold it settles nothing");
    }

    @Test
    default void a_done_step_is_reused_for_ever() {
        RunId run = doer(deed());
        desk().fixture.setTime(StoreFixture.START + 2 * HOUR);
        assertEquals(new LedgerDecision.Reused("{\"by\":1}"), ask(run, deed()));
    }

    @Test
    default void an_own_send_without_a_result_is_unknown_unless_the_provider_still_knows_the_key() {
        RunId run = desk().fresh();
        ask(run, deed());
        desk().change(new StoreWriteCommand.ReturnRun(new RunExecution(run, 1)));
        RunExecution second = desk().claim().getFirst();
        var holder = TestEffect.holder(run, second.claim(), 1);
        assertEquals(
                new LedgerDecision.OutcomeUnknown(1, 1, StoreFixture.START, false),
                ask(TestStoreClient.ops(second, deed().reserve(holder))));
        TestEffect remembered = deed().resendFor(100);
        desk().fixture.setTime(StoreFixture.START + 99);
        assertEquals(
                new LedgerDecision.SendGranted(1, 2, StoreFixture.START, true),
                ask(TestStoreClient.ops(second, remembered.reserve(holder))));
        desk().fixture.setTime(StoreFixture.START + 100);
        assertEquals(
                new LedgerDecision.OutcomeUnknown(1, 2, StoreFixture.START, false),
                ask(TestStoreClient.ops(second, remembered.reserve(TestEffect.holder(run, second.claim(), 2)))));
    }

    @Test
    default void ledger_decisions_come_in_the_order_of_the_operations() {
        RunId other = doer(deed());
        RunId run = desk().fresh();
        TestEffect late = TestEffect.of(desk().ws, "d0");
        OwnerWriteResult owned = desk().apply(TestStoreClient.ops(
                run,
                deed().reserve(run),
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
        RunId[] runs = {desk().fresh(), desk().fresh(), desk().fresh()};
        StoreWrite<?>[] storeWrites = new StoreWrite<?>[runs.length];
        for (int i = 0; i < runs.length; i++) {
            storeWrites[i] = TestStoreClient.ops(
                    runs[i], TestEffect.of(desk().ws, "own" + i).reserve(runs[i]), deed().reserve(runs[i]));
        }
        for (int round = 0; round < 2; round++) {
            List<LedgerDecision> verdicts = desk().decided(storeWrites).stream()
                    .map(outcome ->
                            ((OwnerWriteResult) outcome).ledgerDecisions().get(1))
                    .toList();
            assertEquals(
                    List.of(
                            new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false),
                            new LedgerDecision.HeldByOtherRun(runs[0], false),
                            new LedgerDecision.HeldByOtherRun(runs[0], false)),
                    verdicts,
                    "also when it is applied again");
        }
    }

    @Test
    default void one_batch_may_release_reserve_and_end_in_sequence() {
        RunId one = desk().fresh();
        RunId two = desk().fresh();
        ask(one, deed());
        List<Object> outcomes = desk().decided(
                        TestStoreClient.ops(one, deed().settle(one, EffectState.FREE, null)),
                        TestStoreClient.ops(two, deed().reserve(two)),
                        desk().end(new RunExecution(two, 1), deed().done(two)),
                        desk().end(new RunExecution(one, 1)));
        assertEquals(
                List.of(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false)),
                ((OwnerWriteResult) outcomes.get(1)).ledgerDecisions());
        assertEquals(two, row(deed()).holder().run());
        assertEquals(EffectState.DONE, row(deed()).state());
        assertEquals(2, desk().fixture.count("semel_finished_run"));
    }

    @Test
    default void an_end_settles_in_its_own_commit_once() {
        RunId run = desk().fresh();
        ask(run, deed());
        StoreWrite.EndRun end = desk().end(new RunExecution(run, 1), deed().settle(run, EffectState.FREE, null));
        assertEquals(new OwnerWriteResult(true, false, List.of(NOTED)), desk().apply(end));
        RunId next = desk().fresh();
        ask(next, deed());
        assertTrue(desk().apply(end).recorded(), "applied again it is on record");
        assertEquals(next, row(deed()).holder().run(), "and takes nothing from the next");
    }

    @Test
    default void a_worker_that_does_not_own_the_run_changes_nothing_in_the_ledger() {
        RunId run = desk().fresh();
        var old = new RunExecution(run, 1);
        desk().change(new StoreWriteCommand.ReturnRun(old));
        RunExecution now = desk().claim().getFirst();
        assertEquals(OwnerWriteResult.FENCED, desk().apply(TestStoreClient.ops(old, deed().reserve(run))));
        assertEquals(
                OwnerWriteResult.FENCED,
                desk().apply(TestStoreClient.ops(new RunExecution(run, 3), deed().reserve(run))));
        assertEquals(OwnerWriteResult.FENCED, desk().apply(desk().end(old, deed().reserve(run))));
        assertEquals(OwnerWriteResult.FENCED, desk().applyAs(null, TestStoreClient.ops(now, deed().reserve(run))));
        assertNull(desk().reads.effect(deed().id()));
        assertEquals(RunState.STARTED, desk().runOf(run).state());
    }

    @Test
    default void a_note_is_written_once_and_found_by_its_step() {
        RunId run = desk().fresh();
        assertEquals(NOTED, ask(TestStoreClient.ops(run, deed().note(run))));
        EffectLedger.EffectRow noted = row(deed());
        assertEquals(EffectState.DONE, noted.state());
        desk().fixture.setTime(StoreFixture.START + 9);
        desk().apply(TestStoreClient.ops(run, deed().note(run)));
        assertEquals(noted, row(deed()));
        assertEquals(new LedgerDecision.Reused("{\"noted\":1}"), ask(run, deed()));
    }

    @Test
    default void a_user_decides_an_effect_in_doubt_once() {
        RunId run = desk().fresh();
        ask(run, deed());
        var decide = new StoreWriteCommand.DecideEffect(
                deed().id(), run, "{\"seen\":1}", desk().by("op", "the bank says so"));
        assertFalse(desk().change(decide), "it is on its way, not in doubt");
        var by = new RunExecution(run, 1);
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        EffectLedger.LedgerOperation doubt = deed().settle(run, EffectState.UNKNOWN, null);
        desk().apply(new StoreWrite.AppendJournal(by, 0, "", RunState.IN_DOUBT, List.of(doubt), rest));
        assertEquals(List.of(), desk().claim());
        assertFalse(
                desk().change(new StoreWriteCommand.DecideEffect(
                        deed().id(), desk().fresh(), null, desk().by("op", ""))),
                "another run's");
        assertTrue(desk().change(decide));
        assertTrue(desk().change(decide), "applied again after a lost answer it answers the same");
        assertFalse(desk().change(new StoreWriteCommand.DecideEffect(deed().id(), run, null, desk().by("op", "no"))));
        assertEquals(1, desk().fixture.count("semel_audit"));
        RunExecution next = desk().claim().getFirst();
        assertEquals(run, next.run());
        assertEquals(
                new LedgerDecision.Reused("{\"seen\":1}"),
                ask(TestStoreClient.ops(next, deed().reserve(TestEffect.holder(run, next.claim(), 1)))));
    }

    @Test
    default void a_decision_during_a_suspension_is_not_missed() {
        RunId run = desk().fresh();
        ask(run, deed());
        desk().apply(TestStoreClient.ops(run, deed().settle(run, EffectState.UNKNOWN, null)));
        assertTrue(desk().change(new StoreWriteCommand.DecideEffect(
                deed().id(), run, null, desk().by("op", "nothing arrived"))));
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 0, false, false);
        desk().apply(new StoreWrite.AppendJournal(new RunExecution(run, 1), 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(List.of(new RunExecution(run, 2)), desk().claim());
    }

    @Test
    default void an_effect_decided_as_not_happened_may_be_sent_again() {
        RunId run = desk().fresh();
        ask(run, deed());
        desk().apply(TestStoreClient.ops(run, deed().settle(run, EffectState.UNKNOWN, null)));
        assertTrue(desk().change(new StoreWriteCommand.DecideEffect(
                deed().id(), run, null, desk().by("op", "nothing arrived"))));
        assertEquals(
                new LedgerDecision.SendGranted(1, 2, StoreFixture.START, false),
                ask(TestStoreClient.ops(run, deed().reserve(TestEffect.holder(run, 1, 2)))));
    }

    @Test
    default void effects_are_listed_newest_first_and_by_state() {
        RunId run = doer(deed());
        desk().fixture.setTime(StoreFixture.START + 1);
        TestEffect other = TestEffect.of(desk().ws, "d2");
        ask(run, other);
        assertEquals(List.of(row(other), row(deed())), listed(StoreQueries.EffectFilter.all(desk().ws, 10)));
        assertEquals(List.of(row(deed())), listed(StoreQueries.EffectFilter.in(desk().ws, EffectState.DONE, 10)));
        assertEquals(List.of(row(other)), listed(StoreQueries.EffectFilter.all(desk().ws, 1)));
    }

    private List<EffectLedger.EffectRow> listed(StoreQueries.EffectFilter filter) {
        return desk().reads.effects(filter).found();
    }

    @Test
    default void a_filter_applies_before_paging() {
        TestEffect other = TestEffect.of(desk().ws, "a0");
        TestEffect effect = TestEffect.of(desk().ws, "d2");
        RunId run = doer(other);
        for (int i = 0; i < 5; i++) {
            RunId later = doer(deed());
            desk().apply(TestStoreClient.ops(
                    later, TestEffect.of(desk().ws, "n" + i).note(later)));
            desk().fixture.setTime(desk().fixture.time() + 2 * HOUR);
        }
        RunId late = desk().fresh();
        desk().apply(TestStoreClient.ops(late, effect.suppressed(late)));
        RunId last = doer(deed());
        desk().apply(TestStoreClient.ops(last, TestEffect.of(desk().ws, "n9").note(last)));
        StoreQueries.EffectFilter page = StoreQueries.EffectFilter.all(desk().ws, 2);
        assertEquals(List.of(row(effect)), listed(page.selection(StoreQueries.EffectSelection.SUPPRESSED)));
        assertEquals(
                List.of(row(deed()), row(other)),
                listed(page.selection(StoreQueries.EffectSelection.NOT_SUPPRESSED)),
                "notes are no deeds");
        assertEquals(List.of(), listed(page.key("another key")));
        assertEquals(
                List.of(row(effect)), listed(page.key("the key").selection(StoreQueries.EffectSelection.SUPPRESSED)));
        assertEquals(run, row(other).holder().run());
    }

    @Test
    default void a_suppressed_effect_is_still_listed_after_its_payload_is_deleted() {
        RunId run = desk().fresh();
        TestEffect note = TestEffect.of(desk().ws, "n1");
        TestEffect effect = TestEffect.of(desk().ws, "s1");
        desk().apply(TestStoreClient.ops(run, note.note(run), effect.suppressed(run)));
        desk().apply(desk().end(run));
        assertEquals(1, desk().change(new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 1)));
        assertNull(row(effect).result());
        assertEquals("run_x 17", row(effect).suppressedBy());
        assertTrue(row(note).isStepNote());
        assertEquals(List.of(row(effect)), listed(StoreQueries.EffectFilter.all(desk().ws, 9)));
    }
}
