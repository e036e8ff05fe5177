package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tombstones go when their time has come, and nothing else does. */
interface RetentionRules {
    TestStoreClient desk();

    private List<StoreWriteCommand.KeyTombstone> found(long before) {
        return desk().reads.tombstones(null, 1_000, before).found();
    }

    @Test
    default void only_keys_expired_before_the_cutoff_are_tombstones() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        long edge = StoreFixture.START + TestStoreClient.WINDOW;
        assertEquals(List.of(), found(edge));
        assertEquals(List.of(new StoreWriteCommand.KeyTombstone(key.key(), run, edge)), found(edge + 1));
    }

    @Test
    default void keys_without_expiry_or_of_unfinished_runs_are_no_tombstones() {
        desk().fresh(desk().key("held", RunDeduplicationKeyRecord.HOLD));
        desk().fresh(desk().key("not held", 0));
        desk().apply(desk().end(desk().fresh(desk().chosen("mine"))));
        assertEquals(List.of(), found(Long.MAX_VALUE));
    }

    @Test
    default void a_tombstone_is_deleted_and_its_run_stays() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        List<StoreWriteCommand.KeyTombstone> found = found(Long.MAX_VALUE);
        assertEquals(1, desk().change(new StoreWriteCommand.DeleteTombstones(found)));
        assertEquals(0, desk().change(new StoreWriteCommand.DeleteTombstones(found)), "once");
        assertNull(desk().holder(key));
        assertNotNull(desk().reads.run(desk().ws, run));
    }

    @Test
    default void a_request_counted_after_its_run_was_removed_stores_nothing() {
        RunId gone = desk().fresh();
        RunId stays = desk().fresh();
        desk().apply(desk().end(gone));
        desk().fixture.setTime(StoreFixture.START + 10);
        assertEquals(1, desk().change(new StoreWriteCommand.DeleteRuns(List.of(gone), StoreFixture.START + 10)));
        desk().apply(new StoreWrite.RecordDuplicates(
                List.of(desk().seen(gone, false, 3), desk().seen(stays, false, 2), desk().seen(gone, true, 1))));
        assertEquals(1, desk().fixture.count("semel_duplicate_request"));
        assertEquals(1, desk().fixture.count("semel_duplicate_count"));
        assertEquals(2, desk().runOf(stays).counts().replays());
    }

    @Test
    default void a_key_claimed_meanwhile_is_not_deleted() {
        RunDeduplicationKeyClaim key = desk().key("K");
        desk().apply(desk().end(desk().fresh(key)));
        desk().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        List<StoreWriteCommand.KeyTombstone> found = found(desk().fixture.time());
        RunId next = desk().fresh(key);
        assertEquals(0, desk().change(new StoreWriteCommand.DeleteTombstones(found)));
        RunDeduplicationKeyRecord keyRecord = desk().holder(key);
        assertNotNull(keyRecord);
        assertEquals(next, keyRecord.run());
    }

    @Test
    default void a_sweep_visits_all_keys_page_by_page() {
        List<RunDeduplicationKey> expired = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            RunDeduplicationKeyClaim key = desk().key("key " + i);
            RunId run = desk().fresh(key);
            if (i % 2 == 0) {
                desk().apply(desk().end(run));
                expired.add(key.key());
            }
        }
        List<RunDeduplicationKey> walked = new ArrayList<>();
        @Nullable RunDeduplicationKey from = null;
        int slices = 0;
        do {
            StoreQueries.TombstonePage slice = desk().reads.tombstones(from, 10, Long.MAX_VALUE);
            slice.found().forEach(tombstone -> walked.add(tombstone.key()));
            from = slice.next();
            slices++;
        } while (from != null);
        assertEquals(3, slices);
        assertEquals(expired.stream().sorted().toList(), walked);
    }

    private int retire(long endedBefore) {
        StoreQueries.OldLineages old = desk().reads.oldRuns(null, 1_000, endedBefore);
        assertNull(old.next());
        return old.found().isEmpty() ? 0 : desk().change(new StoreWriteCommand.DeleteRuns(old.found(), endedBefore));
    }

    @Test
    default void an_old_run_is_deleted_with_all_its_rows() {
        RunId run = desk().fresh(desk().chosen("mine"));
        desk().apply(desk().append(run, 0, "[1]"));
        TestEffect effect = TestEffect.of(desk().ws, "d1");
        desk().apply(TestStoreClient.ops(run, effect.reserve(TestEffect.holder(run, 1, 1))));
        desk().apply(TestStoreClient.ops(run, effect.settle(run, EffectState.DONE, "{}")));
        assertEquals(0, retire(Long.MAX_VALUE), "it has not ended");
        desk().apply(desk().end(run));
        assertEquals(0, retire(StoreFixture.START), "it ended at that very moment");
        RunId young = desk().fresh();
        assertEquals(1, retire(StoreFixture.START + 1));
        assertNull(desk().reads.run(desk().ws, run));
        assertEquals(List.of(), desk().reads.journal(run));
        assertEquals(List.of(), desk().reads.effects(run));
        assertNull(desk().holder(desk().chosen("mine")), "a chosen id lasts as long as its run");
        assertNotNull(desk().reads.run(desk().ws, young));
    }

    @Test
    default void a_run_stays_while_a_key_or_an_effect_needs_it() {
        RunId named = desk().fresh(new RunDeduplicationKeyClaim(
                desk().key("year").key(), new byte[32], 365 * 86_400_000_000L, 0, true));
        RunId doubtful = desk().fresh();
        TestEffect effect = TestEffect.of(desk().ws, "d1");
        desk().apply(TestStoreClient.ops(doubtful, effect.reserve(TestEffect.holder(doubtful, 1, 1))));
        RunId plain = desk().fresh();
        for (RunId run : List.of(named, doubtful, plain)) {
            desk().apply(desk().end(run));
        }
        assertEquals(1, retire(StoreFixture.START + 1));
        assertNull(desk().reads.run(desk().ws, plain));
        assertNotNull(desk().reads.run(desk().ws, named));
        assertNotNull(desk().reads.run(desk().ws, doubtful));
    }

    @Test
    default void an_effect_stays_to_the_end_of_its_window_however_old_its_run_is() {
        RunId run = desk().fresh();
        TestEffect effect = TestEffect.of(desk().ws, "d1").once(1_000);
        desk().apply(TestStoreClient.ops(run, effect.reserve(run)));
        desk().apply(TestStoreClient.ops(run, effect.done(run)));
        desk().apply(desk().end(run));
        desk().fixture.setTime(StoreFixture.START + 999);
        assertEquals(0, retire(StoreFixture.START + 999), "another run could send it again");
        assertEquals(
                0,
                desk().change(new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 999)),
                "with its result");
        assertNotNull(desk().reads.effect(effect.id()));
        desk().fixture.setTime(StoreFixture.START + 1_001);
        assertEquals(1, retire(StoreFixture.START + 999));
        assertNull(desk().reads.effect(effect.id()));
    }

    @Test
    default void the_runs_of_a_lineage_are_deleted_together() {
        RunId first = desk().fresh();
        desk().apply(desk().end(first));
        desk().fixture.setTime(StoreFixture.START + 10);
        RunId replay = desk().id();
        NewRun.RunParentage links = new NewRun.RunParentage(first, null, first);
        desk().apply(desk().admit(desk().linked(replay, links, null, RunState.STARTED), List.of(), true));
        desk().apply(desk().end(replay));
        assertEquals(0, retire(StoreFixture.START + 5), "a later run of it needs what the first one did");
        assertEquals(2, retire(StoreFixture.START + 11));
        assertNull(desk().reads.run(desk().ws, replay));
        assertNull(desk().reads.run(desk().ws, first));
    }

    @Test
    default void a_child_run_stays_as_long_as_its_callers_lineage() {
        RunId caller = desk().fresh();
        RunId child = desk().id();
        NewRun.RunParentage called = new NewRun.RunParentage(null, caller, null);
        desk().apply(desk().admit(desk().linked(child, called, null, RunState.STARTED), List.of(), true));
        desk().apply(desk().end(child));
        desk().fixture.setTime(StoreFixture.START + 10);
        assertEquals(0, retire(StoreFixture.START + 5), "its caller has not ended");
        desk().apply(desk().end(caller));
        assertEquals(0, retire(StoreFixture.START + 5), "its caller may be replayed");
        RunId replay = desk().id();
        NewRun.RunParentage links = new NewRun.RunParentage(caller, null, caller);
        desk().apply(desk().admit(desk().linked(replay, links, null, RunState.STARTED), List.of(), true));
        desk().fixture.setTime(StoreFixture.START + 20);
        desk().apply(desk().end(replay));
        assertEquals(0, retire(StoreFixture.START + 15), "and so may the one that replayed it");
        assertEquals(3, retire(StoreFixture.START + 21));
        assertNull(desk().reads.run(desk().ws, child));
    }

    @Test
    default void old_runs_are_found_page_by_page_until_the_first_young_one() {
        List<RunId> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            RunId run = desk().fresh();
            desk().apply(desk().end(run));
            runs.add(run);
        }
        List<RunId> found = new ArrayList<>();
        RunId from = null;
        do {
            StoreQueries.OldLineages old = desk().reads.oldRuns(from, 2, StoreFixture.START + 1);
            found.addAll(old.found());
            from = old.next();
        } while (from != null);
        assertEquals(runs.stream().sorted().toList(), found);
        assertNull(desk().reads.oldRuns(null, 2, StoreFixture.START).next(), "all of them are too young");
    }

    @Test
    default void the_payload_of_an_old_run_is_deleted_and_its_outcome_stays() {
        RunId old = desk().fresh();
        RunId young = desk().fresh();
        desk().apply(desk().append(old, 1, "[1]"));
        desk().apply(desk().end(old));
        desk().fixture.setTime(StoreFixture.START + 10);
        desk().apply(desk().end(young));
        var blank = new StoreWriteCommand.ErasePayloads(List.of(old, young), StoreFixture.START + 10);
        assertEquals(1, desk().change(blank));
        assertEquals(0, desk().change(blank), "once");
        DatabaseRows.RunRow run = desk().runOf(old);
        assertEquals("{}", run.input());
        DatabaseRows.RunEnd end = run.end();
        assertNotNull(end);
        assertNull(end.result().output());
        assertEquals("[]", end.entries());
        assertEquals(List.of(), desk().reads.journal(old));
        assertEquals(StoreFixture.START, end.endedAt());
        DatabaseRows.RunEnd runEnd = desk().runOf(young).end();
        assertNotNull(runEnd);
        assertNotNull(runEnd.result().output());
    }

    @Test
    default void a_payload_stays_while_a_key_refers_to_its_run() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        desk().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + 1);
        var blank = new StoreWriteCommand.ErasePayloads(List.of(run), StoreFixture.START + 1);
        assertEquals(0, desk().change(blank));
        desk().change(new StoreWriteCommand.DeleteTombstones(
                found(desk().fixture.time())));
        assertEquals(1, desk().change(blank));
    }

    @Test
    default void duplicate_rows_are_deleted_by_age_and_the_counts_stay() {
        RunId run = desk().fresh();
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 3))));
        desk().fixture.setTime(StoreFixture.START + 10);
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, true, 1))));
        var forget = new StoreWriteCommand.DeleteOldHistory(
                StoreWriteCommand.HistoryTable.REQUESTS, StoreFixture.START + 1, 100);
        assertEquals(1, desk().change(forget));
        assertEquals(0, desk().change(forget), "once");
        assertEquals(1, desk().fixture.count("semel_duplicate_request"));
        assertEquals(3, desk().runOf(run).counts().replays());
        // Elsewhere counts are the sums of their rows, and every other rule ends with that: so the run goes as well.
        desk().apply(desk().end(run));
        desk().fixture.setTime(StoreFixture.START + 20);
        assertEquals(1, desk().change(new StoreWriteCommand.DeleteRuns(List.of(run), StoreFixture.START + 20)));
    }

    @Test
    default void the_oldest_audit_rows_are_deleted_page_by_page() {
        for (String key : List.of("a", "b", "c")) {
            RunId run = desk().fresh(desk().key(key));
            desk().change(new StoreWriteCommand.ReleaseKey(desk().key(key).key(), run, desk().by("op", "why")));
        }
        desk().fixture.setTime(StoreFixture.START + 10);
        RunId last = desk().fresh(desk().key("d"));
        desk().change(new StoreWriteCommand.ReleaseKey(desk().key("d").key(), last, desk().by("op", "why")));
        var forget = new StoreWriteCommand.DeleteOldHistory(
                StoreWriteCommand.HistoryTable.AUDIT, StoreFixture.START + 10, 2);
        assertEquals(2, desk().change(forget));
        assertEquals(1, desk().change(forget));
        assertEquals(0, desk().change(forget));
        assertEquals(
                List.of("d"),
                desk().reads.audit(desk().ws, null, 10).stream()
                        .map(DatabaseRows.AuditRow::target)
                        .toList());
    }
}
