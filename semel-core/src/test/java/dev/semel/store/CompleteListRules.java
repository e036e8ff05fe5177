package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A list that decides something is complete, however long it is. */
interface CompleteListRules {
    TestStoreClient client();

    @Test
    default void a_run_with_more_than_10_000_effects_shows_all_and_its_open_reservation() {
        RunId run = client().fresh();
        int done = 10_050;
        for (int from = 0; from < done; from += 1_005) {
            List<EffectLedger.LedgerOperation> notes = new ArrayList<>();
            for (int i = from; i < from + 1_005; i++) {
                notes.add(TestEffect.of(client().ws, "effect " + i).note(run));
            }
            client().apply(TestStoreClient.ops(run, notes.toArray(EffectLedger.LedgerOperation[]::new)));
        }
        client().fixture.setTime(StoreFixture.START + 10);
        TestEffect last = TestEffect.of(client().ws, "the last");
        client().apply(TestStoreClient.ops(run, last.reserve(run)));
        assertEquals(done + 1, client().reads.effects(run).size());
        assertEquals(done + 1, client().reads.effects(List.of(run)).size());
        assertEquals(
                List.of(last.id()),
                client().reads.openEffects(run).stream()
                        .map(EffectLedger.EffectRow::id)
                        .toList());
    }

    @Test
    default void open_effects_are_those_reserved_and_those_in_doubt() {
        RunId run = client().fresh();
        TestEffect reserved = TestEffect.of(client().ws, "a");
        TestEffect doubtful = TestEffect.of(client().ws, "b");
        TestEffect done = TestEffect.of(client().ws, "c");
        TestEffect free = TestEffect.of(client().ws, "d");
        for (TestEffect one : List.of(reserved, doubtful, done, free)) {
            client().apply(TestStoreClient.ops(run, one.reserve(run)));
        }
        client().apply(TestStoreClient.ops(
                run,
                doubtful.settle(run, EffectLedger.EffectState.UNKNOWN, null),
                done.done(run),
                free.settle(run, EffectLedger.EffectState.FREE, null)));
        assertEquals(
                List.of(reserved.id(), doubtful.id()),
                client().reads.openEffects(run).stream()
                        .map(EffectLedger.EffectRow::id)
                        .toList());
    }

    @Test
    default void a_lineage_of_more_than_1_000_runs_is_complete() {
        RunId first = client().fresh();
        List<RunId> later = new ArrayList<>();
        List<StoreWrite<?>> admits = new ArrayList<>();
        for (int i = 0; i < 1_020; i++) {
            RunId next = client().id();
            later.add(next);
            NewRun.RunParentage links = new NewRun.RunParentage(first, null, null);
            admits.add(client().admit(client().linked(next, links, null, RunState.STARTED), List.of(), true));
        }
        client().applyAll(admits);
        assertEquals(later, client().reads.lineage(first));
        assertEquals(later, client().reads.lineages(List.of(first)).get(first));
    }

    @Test
    default void more_than_100_records_of_one_key_are_all_found() {
        List<RunId> made = new ArrayList<>();
        for (int i = 0; i < 130; i++) {
            String text = "K\n" + (1_000 + i);
            made.add(client().fresh(client().claim(
                            RunDeduplicationKey.KeyKind.DISTINCT_KEY, text, RunDeduplicationKeyRecord.HOLD)));
        }
        assertEquals(130, client().reads.keyRecords(client().ws, "K").size());
        assertEquals(made.reversed(), pagedRunsOf("K", 40));
    }

    @Test
    default void more_than_100_runs_of_one_key_are_listed_page_by_page() {
        RunDeduplicationKeyClaim key = client().key("K");
        List<RunId> made = new ArrayList<>();
        for (int i = 0; i < 130; i++) {
            RunId run = client().fresh(key);
            client().apply(client().end(run));
            made.add(run);
            client().fixture.setTime(StoreFixture.START + (i + 1) * (TestStoreClient.WINDOW + 1));
        }
        assertEquals(made.reversed(), pagedRunsOf("K", 40));
    }

    private List<RunId> pagedRunsOf(String key, int limit) {
        List<RunId> all = new ArrayList<>();
        RunId before = null;
        List<RunId> page;
        do {
            page = client()
                    .reads
                    .runs(new StoreQueries.RunFilter(client().ws, null, null, key, false, 0, before, limit, null))
                    .stream()
                    .map(DatabaseRows.RunRow::id)
                    .toList();
            all.addAll(page);
            before = page.isEmpty() ? null : page.getLast();
        } while (page.size() == limit);
        return all;
    }
}
