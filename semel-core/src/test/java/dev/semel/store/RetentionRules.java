package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger.ChangePolicy;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tombstones go when their time has come, and nothing else does. */
interface RetentionRules {
    long DAY = 86_400_000_000L;

    TestStoreClient client();

    private List<StoreWriteCommand.KeyTombstone> found(long before) {
        return client().reads.tombstones(null, 1_000, before).found();
    }

    @Test
    default void only_keys_expired_before_the_cutoff_are_tombstones() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        client().apply(client().end(run));
        long edge = StoreFixture.START + TestStoreClient.WINDOW;
        assertEquals(List.of(), found(edge));
        assertEquals(List.of(new StoreWriteCommand.KeyTombstone(key.key(), run, edge)), found(edge + 1));
    }

    @Test
    default void keys_without_expiry_or_of_unfinished_runs_are_no_tombstones() {
        client().fresh(client().key("held", RunDeduplicationKeyRecord.HOLD));
        client().fresh(client().key("not held", 0));
        client().apply(client().end(client().fresh(client().chosen("mine"))));
        assertEquals(List.of(), found(Long.MAX_VALUE));
    }

    @Test
    default void a_tombstone_is_deleted_and_its_run_stays() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        client().apply(client().end(run));
        List<StoreWriteCommand.KeyTombstone> found = found(Long.MAX_VALUE);
        assertEquals(1, client().change(new StoreWriteCommand.DeleteTombstones(found)));
        assertEquals(0, client().change(new StoreWriteCommand.DeleteTombstones(found)), "once");
        assertNull(client().holder(key));
        assertNotNull(client().reads.run(client().ws, run));
    }

    @Test
    default void a_request_counted_after_its_run_was_removed_stores_nothing() {
        RunId gone = client().fresh();
        RunId stays = client().fresh();
        client().apply(client().end(gone));
        client().fixture.setTime(StoreFixture.START + 10);
        assertEquals(1, client().change(new StoreWriteCommand.DeleteRuns(List.of(gone), StoreFixture.START + 10)));
        client().apply(new StoreWrite.RecordDuplicates(
                List.of(client().seen(gone, false, 3), client().seen(stays, false, 2), client().seen(gone, true, 1))));
        assertEquals(1, client().fixture.count("semel_duplicate_request"));
        assertEquals(1, client().fixture.count("semel_duplicate_count"));
        assertEquals(2, client().runOf(stays).counts().replays());
    }

    @Test
    default void a_key_claimed_meanwhile_is_not_deleted() {
        RunDeduplicationKeyClaim key = client().key("K");
        client().apply(client().end(client().fresh(key)));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        List<StoreWriteCommand.KeyTombstone> found = found(client().fixture.time());
        RunId next = client().fresh(key);
        assertEquals(0, client().change(new StoreWriteCommand.DeleteTombstones(found)));
        RunDeduplicationKeyRecord keyRecord = client().holder(key);
        assertNotNull(keyRecord);
        assertEquals(next, keyRecord.run());
    }

    @Test
    default void a_sweep_visits_all_keys_page_by_page() {
        List<RunDeduplicationKey> expired = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            RunDeduplicationKeyClaim key = client().key("key " + i);
            RunId run = client().fresh(key);
            if (i % 2 == 0) {
                client().apply(client().end(run));
                expired.add(key.key());
            }
        }
        List<RunDeduplicationKey> walked = new ArrayList<>();
        @Nullable RunDeduplicationKey from = null;
        int slices = 0;
        do {
            StoreQueries.TombstonePage slice = client().reads.tombstones(from, 10, Long.MAX_VALUE);
            slice.found().forEach(tombstone -> walked.add(tombstone.key()));
            from = slice.next();
            slices++;
        } while (from != null);
        assertEquals(3, slices);
        assertEquals(expired.stream().sorted().toList(), walked);
    }

    private int retire(long endedBefore) {
        StoreQueries.OldLineages old = client().reads.oldRuns(null, 1_000, endedBefore);
        assertNull(old.next());
        return old.found().isEmpty() ? 0 : client().change(new StoreWriteCommand.DeleteRuns(old.found(), endedBefore));
    }

    @Test
    default void an_old_run_is_deleted_with_all_its_rows() {
        RunId run = client().fresh(client().chosen("mine"));
        client().apply(client().append(run, 0, "[1]"));
        TestEffect effect = TestEffect.of(client().ws, "d1");
        client().apply(TestStoreClient.ops(run, effect.reserve(TestEffect.holder(run, 1, 1))));
        client().apply(TestStoreClient.ops(run, effect.settle(run, EffectState.DONE, "{}")));
        assertEquals(0, retire(Long.MAX_VALUE), "it has not ended");
        client().apply(client().end(run));
        assertEquals(0, retire(StoreFixture.START), "it ended at that very moment");
        RunId young = client().fresh();
        assertEquals(1, retire(StoreFixture.START + 1));
        assertNull(client().reads.run(client().ws, run));
        assertEquals(List.of(), client().reads.journal(run));
        assertEquals(List.of(), client().reads.effects(run));
        assertNull(client().holder(client().chosen("mine")), "a chosen id lasts as long as its run");
        assertNotNull(client().reads.run(client().ws, young));
    }

    @Test
    default void a_run_stays_while_a_key_or_an_effect_needs_it() {
        RunId named = client().fresh(new RunDeduplicationKeyClaim(
                client().key("year").key(), new byte[32], 365 * 86_400_000_000L, 0, true));
        RunId doubtful = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d1");
        client().apply(TestStoreClient.ops(doubtful, effect.reserve(TestEffect.holder(doubtful, 1, 1))));
        RunId plain = client().fresh();
        for (RunId run : List.of(named, doubtful, plain)) {
            client().apply(client().end(run));
        }
        assertEquals(1, retire(StoreFixture.START + 1));
        assertNull(client().reads.run(client().ws, plain));
        assertNotNull(client().reads.run(client().ws, named));
        assertNotNull(client().reads.run(client().ws, doubtful));
    }

    @Test
    default void an_effect_stays_seven_days_after_its_window_however_old_its_run_is() {
        RunId run = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d1").once(1_000);
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        client().apply(TestStoreClient.ops(run, effect.done(run)));
        client().apply(client().end(run));
        client().fixture.setTime(StoreFixture.START + 999);
        assertEquals(0, retire(StoreFixture.START + 999), "another run could send it again");
        var erase = new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 999);
        assertEquals(0, client().change(erase), "with its result");
        assertNotNull(client().reads.effect(effect.id()));
        client().fixture.setTime(StoreFixture.START + 1_000);
        assertEquals(1, client().change(erase), "after the window nobody needs the result");
        client().fixture.setTime(StoreFixture.START + 999 + 7 * DAY);
        assertEquals(0, retire(StoreFixture.START + 999), "the next send needs its generation");
        assertNotNull(client().reads.effect(effect.id()));
        client().fixture.setTime(StoreFixture.START + 1_000 + 7 * DAY);
        assertEquals(1, retire(StoreFixture.START + 999));
        assertNull(client().reads.effect(effect.id()));
    }

    /** The result column of a rejected message holds the accepted one before it, with its window. */
    @Test
    default void a_rejected_change_keeps_the_accepted_message_to_the_end_of_its_window() {
        RunId first = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d1").once(30 * DAY);
        client().apply(TestStoreClient.ops(first, effect.reserve(first)));
        client().apply(TestStoreClient.ops(first, effect.done(first)));
        client().apply(client().end(first));
        RunId second = client().fresh();
        TestEffect changed = effect.with(ChangePolicy.SEND, "changed");
        client().apply(TestStoreClient.ops(second, changed.reserve(second)));
        client().apply(TestStoreClient.ops(second, changed.settle(second, EffectState.FREE, null)));
        client().apply(client().end(second));
        client().fixture.setTime(StoreFixture.START + 30 * DAY - 1);
        client().change(new StoreWriteCommand.ErasePayloads(List.of(second), StoreFixture.START + 1));
        assertEquals(1, retire(StoreFixture.START + 1), "only the first run, which no longer holds the effect");
        RunId third = client().fresh();
        assertEquals(
                List.of(new LedgerDecision.Suppressed("{\"by\":1}", first, StoreFixture.START)),
                client().apply(TestStoreClient.ops(third, effect.reserve(third)))
                        .ledgerDecisions());
    }

    @Test
    default void no_generation_of_an_effect_repeats_after_its_row_was_deleted() {
        TestEffect effect = TestEffect.of(client().ws, "d1").once(2_000_000);
        Set<Integer> generations = new HashSet<>();
        for (int i = 0; i < 6; i++) {
            RunId run = client().fresh();
            LedgerDecision decision = client().apply(TestStoreClient.ops(run, effect.reserve(run)))
                    .ledgerDecisions()
                    .getFirst();
            int generation = ((LedgerDecision.SendGranted) decision).generation();
            assertEquals(true, generations.add(generation), generation + " was used before: " + generations);
            EffectState outcome = i == 3 ? EffectState.FREE : EffectState.DONE;
            client().apply(TestStoreClient.ops(run, effect.settle(run, outcome, "{}")));
            client().apply(client().end(run));
            boolean soon = i % 2 == 0; // two sends in one week, then a pause that deletes the row
            client().fixture.setTime(client().fixture.time() + (soon ? 3_000_000 : 15 * DAY));
            retire(client().fixture.time() - 1_000_000);
            assertEquals(soon, client().reads.effect(effect.id()) != null);
        }
    }

    @Test
    default void the_runs_of_a_lineage_are_deleted_together() {
        RunId first = client().fresh();
        client().apply(client().end(first));
        client().fixture.setTime(StoreFixture.START + 10);
        RunId replay = client().id();
        NewRun.RunParentage links = new NewRun.RunParentage(first, null, first);
        client().apply(client().admit(client().linked(replay, links, null, RunState.STARTED), List.of(), true));
        client().apply(client().end(replay));
        assertEquals(0, retire(StoreFixture.START + 5), "a later run of it needs what the first one did");
        assertEquals(2, retire(StoreFixture.START + 11));
        assertNull(client().reads.run(client().ws, replay));
        assertNull(client().reads.run(client().ws, first));
    }

    @Test
    default void a_child_run_stays_as_long_as_its_callers_lineage() {
        RunId caller = client().fresh();
        RunId child = client().id();
        NewRun.RunParentage called = new NewRun.RunParentage(null, caller, null);
        client().apply(client().admit(client().linked(child, called, null, RunState.STARTED), List.of(), true));
        client().apply(client().end(child));
        client().fixture.setTime(StoreFixture.START + 10);
        assertEquals(0, retire(StoreFixture.START + 5), "its caller has not ended");
        client().apply(client().end(caller));
        assertEquals(0, retire(StoreFixture.START + 5), "its caller may be replayed");
        RunId replay = client().id();
        NewRun.RunParentage links = new NewRun.RunParentage(caller, null, caller);
        client().apply(client().admit(client().linked(replay, links, null, RunState.STARTED), List.of(), true));
        client().fixture.setTime(StoreFixture.START + 20);
        client().apply(client().end(replay));
        assertEquals(0, retire(StoreFixture.START + 15), "and so may the one that replayed it");
        assertEquals(3, retire(StoreFixture.START + 21));
        assertNull(client().reads.run(client().ws, child));
    }

    @Test
    default void old_runs_are_found_page_by_page_until_the_first_young_one() {
        List<RunId> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            RunId run = client().fresh();
            client().apply(client().end(run));
            runs.add(run);
        }
        List<RunId> found = new ArrayList<>();
        RunId from = null;
        do {
            StoreQueries.OldLineages old = client().reads.oldRuns(from, 2, StoreFixture.START + 1);
            found.addAll(old.found());
            from = old.next();
        } while (from != null);
        assertEquals(runs.stream().sorted().toList(), found);
        assertNull(client().reads.oldRuns(null, 2, StoreFixture.START).next(), "all of them are too young");
    }

    @Test
    default void the_payload_of_an_old_run_is_deleted_and_its_outcome_stays() {
        RunId old = client().fresh();
        RunId young = client().fresh();
        client().apply(client().append(old, 1, "[1]"));
        client().apply(client().end(old));
        client().fixture.setTime(StoreFixture.START + 10);
        client().apply(client().end(young));
        var blank = new StoreWriteCommand.ErasePayloads(List.of(old, young), StoreFixture.START + 10);
        assertEquals(1, client().change(blank));
        assertEquals(0, client().change(blank), "once");
        DatabaseRows.RunRow run = client().runOf(old);
        assertEquals("{}", run.input());
        DatabaseRows.RunEnd end = run.end();
        assertNotNull(end);
        assertNull(end.result().output());
        assertEquals("[]", end.entries());
        assertEquals(List.of(), client().reads.journal(old));
        assertEquals(StoreFixture.START, end.endedAt());
        DatabaseRows.RunEnd runEnd = client().runOf(young).end();
        assertNotNull(runEnd);
        assertNotNull(runEnd.result().output());
    }

    @Test
    default void a_payload_stays_while_a_key_refers_to_its_run() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        client().apply(client().end(run));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        var blank = new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 1);
        assertEquals(0, client().change(blank));
        client().change(new StoreWriteCommand.DeleteTombstones(
                found(client().fixture.time())));
        assertEquals(1, client().change(blank));
    }

    @Test
    default void duplicate_rows_are_deleted_by_age_and_the_counts_stay() {
        RunId run = client().fresh();
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(run, false, 3))));
        client().fixture.setTime(StoreFixture.START + 10);
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(run, true, 1))));
        var forget = new StoreWriteCommand.DeleteOldHistory(
                StoreWriteCommand.HistoryTable.REQUESTS, StoreFixture.START + 1, 100);
        assertEquals(1, client().change(forget));
        assertEquals(0, client().change(forget), "once");
        assertEquals(1, client().fixture.count("semel_duplicate_request"));
        assertEquals(3, client().runOf(run).counts().replays());
        // Elsewhere counts are the sums of their rows, and every other rule ends with that: so the run goes as well.
        client().apply(client().end(run));
        client().fixture.setTime(StoreFixture.START + 20);
        assertEquals(1, client().change(new StoreWriteCommand.DeleteRuns(List.of(run), StoreFixture.START + 20)));
    }

    @Test
    default void the_oldest_audit_rows_are_deleted_page_by_page() {
        for (String key : List.of("a", "b", "c")) {
            RunId run = client().fresh(client().key(key));
            client().change(new StoreWriteCommand.ReleaseKey(client().key(key).key(), run, client().by("op", "why")));
        }
        client().fixture.setTime(StoreFixture.START + 10);
        RunId last = client().fresh(client().key("d"));
        client().change(new StoreWriteCommand.ReleaseKey(client().key("d").key(), last, client().by("op", "why")));
        var forget = new StoreWriteCommand.DeleteOldHistory(
                StoreWriteCommand.HistoryTable.AUDIT, StoreFixture.START + 10, 2);
        assertEquals(2, client().change(forget));
        assertEquals(1, client().change(forget));
        assertEquals(0, client().change(forget));
        assertEquals(
                List.of("d"),
                client().reads.audit(client().ws, null, 10).stream()
                        .map(DatabaseRows.AuditRow::target)
                        .toList());
    }
}
