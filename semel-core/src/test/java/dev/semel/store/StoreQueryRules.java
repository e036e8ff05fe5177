package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerSource;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Lists, pages and filters; and that two workspaces never see each other. */
interface StoreQueryRules {
    TestStoreClient client();

    private NewRun run(RunId id, int ws, String workflow, @Nullable String key) {
        return new NewRun(
                id,
                ws,
                null,
                workflow,
                1,
                RunState.STARTED,
                new NewRun.TriggerOrigin(TriggerSource.LIBRARY, "actor", key, null),
                "{}",
                new byte[0],
                NewRun.RunParentage.NONE,
                null);
    }

    private RunId started(int ws, String workflow, @Nullable String key) {
        RunId id = client().id();
        List<RunDeduplicationKeyClaim> claims =
                key == null || ws != client().ws ? List.of() : List.of(client().key(key));
        client().apply(client().admit(run(id, ws, workflow, key), claims, true));
        return id;
    }

    private static StoreQueries.RunFilter all(int ws) {
        return new StoreQueries.RunFilter(ws, null, null, null, false, 0, null, 100, null);
    }

    private List<RunId> ids(StoreQueries.RunFilter filter) {
        return client().reads.runs(filter).stream().map(DatabaseRows.RunRow::id).toList();
    }

    @Test
    default void runs_are_listed_newest_first_and_paged_without_gap_or_repeat() {
        client().publish(client().ws, "two", "wf_two");
        List<RunId> made = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            made.add(started(client().ws, i % 3 == 0 ? "wf_two" : TestStoreClient.WORKFLOW, null));
        }
        assertEquals(made.reversed(), ids(all(client().ws)));
        for (String workflow : new String[] {null, TestStoreClient.WORKFLOW, "wf_two"}) {
            List<RunId> paged = new ArrayList<>();
            RunId before = null;
            List<RunId> page;
            do {
                page = ids(new StoreQueries.RunFilter(client().ws, workflow, null, null, false, 0, before, 4, null));
                paged.addAll(page);
                before = page.isEmpty() ? null : page.getLast();
            } while (!page.isEmpty());
            assertEquals(
                    ids(new StoreQueries.RunFilter(client().ws, workflow, null, null, false, 0, null, 100, null)),
                    paged);
        }
    }

    @Test
    default void runs_are_filtered_by_state_key_time_and_replays() {
        RunId first = started(client().ws, TestStoreClient.WORKFLOW, "K");
        client().fixture.setTime(StoreFixture.START + 10);
        RunId second = started(client().ws, TestStoreClient.WORKFLOW, "L");
        RunId third = started(client().ws, TestStoreClient.WORKFLOW, null);
        client().apply(client().end(second));
        client().apply(client().failed(third));
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(second, false, 2))));
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(first, true, 1))));
        int ws = client().ws;
        assertEquals(
                List.of(first),
                ids(new StoreQueries.RunFilter(ws, null, RunState.STARTED, null, false, 0, null, 9, null)));
        assertEquals(
                List.of(third),
                ids(new StoreQueries.RunFilter(ws, null, RunState.FAILED, null, false, 0, null, 9, null)));
        assertEquals(List.of(second), ids(new StoreQueries.RunFilter(ws, null, null, "L", false, 0, null, 9, null)));
        assertEquals(List.of(), ids(new StoreQueries.RunFilter(ws, null, null, "l", false, 0, null, 9, null)));
        assertEquals(List.of(second), ids(new StoreQueries.RunFilter(ws, null, null, null, true, 0, null, 9, null)));
        assertEquals(
                List.of(third, second),
                ids(new StoreQueries.RunFilter(ws, null, null, null, false, StoreFixture.START + 10, null, 9, null)));
        assertEquals(List.of(), ids(new StoreQueries.RunFilter(ws, "wf_no", null, null, false, 0, null, 9, null)));
    }

    @Test
    default void runs_are_filtered_by_correlation_and_by_their_end() {
        RunId early = client().fresh();
        RunId late = client().fresh();
        RunId done = client().fresh();
        RunId open = client().fresh();
        client().fixture.setTime(StoreFixture.START + 100);
        client().apply(client().failed(early));
        client().fixture.setTime(StoreFixture.START + 200);
        client().apply(client().failed(late));
        client().apply(client().end(done));
        long since = StoreFixture.START + 200;
        StoreQueries.RunFilter all = all(client().ws);
        var failed = new StoreQueries.RunFilter(client().ws, null, RunState.FAILED, null, false, 0, null, 9, null);
        var ours = new StoreQueries.RunFilter(
                client().ws, TestStoreClient.WORKFLOW, RunState.FAILED, null, false, 0, null, 9, null);
        var working = new StoreQueries.RunFilter(client().ws, null, RunState.STARTED, null, false, 0, null, 9, null);
        assertEquals(List.of(late, early), ids(failed));
        assertEquals(List.of(late), ids(failed.withEndedSince(since)));
        assertEquals(List.of(late), ids(ours.withEndedSince(since)));
        assertEquals(List.of(done, late), ids(all.withEndedSince(since)));
        assertEquals(List.of(), ids(working.withEndedSince(since)));
        String one = String.valueOf(Objects.requireNonNull(client().reads.run(client().ws, open))
                .origin()
                .correlationId());
        assertEquals(List.of(open, done, late, early), ids(all.withCorrelation(one)));
        assertEquals(
                List.of(open, done, late, early), paged(all.withCorrelation(one).page(null, 1)));
        assertEquals(List.of(late), ids(failed.withCorrelation(one).withEndedSince(since)));
        assertEquals(List.of(open), ids(working.withCorrelation(one)));
        assertEquals(List.of(), ids(all.withCorrelation(one.toUpperCase(java.util.Locale.ROOT))));
        assertEquals(List.of(), ids(all.withCorrelation("another")));
    }

    @Test
    default void run_filters_combine_and_every_list_can_be_paged() {
        client().publish(client().ws, "two", "wf_two");
        List<RunId> made = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            RunId run = started(client().ws, i % 3 == 0 ? "wf_two" : TestStoreClient.WORKFLOW, null);
            made.add(run);
            if (i % 4 == 1) {
                client().apply(client().end(run));
            } else if (i % 4 != 0) {
                client().apply(client().failed(run));
            }
            if (i % 2 == 0) {
                client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(run, i % 8 == 0, 1))));
            }
        }
        List<DatabaseRows.RunRow> rows = client().reads.runs(all(client().ws));
        assertEquals(made.reversed(), rows.stream().map(DatabaseRows.RunRow::id).toList());
        for (RunState state : new RunState[] {null, RunState.STARTED, RunState.COMPLETED, RunState.FAILED}) {
            for (String workflow : new String[] {null, TestStoreClient.WORKFLOW, "wf_two"}) {
                for (boolean replayed : new boolean[] {false, true}) {
                    for (RunId from : new RunId[] {null, made.get(7)}) {
                        var wanted = new StoreQueries.RunFilter(
                                client().ws, workflow, state, null, replayed, 0, null, 2, from);
                        List<RunId> expected = rows.stream()
                                .filter(run -> state == null || run.state() == state)
                                .filter(run ->
                                        workflow == null || run.workflowId().equals(workflow))
                                .filter(run -> !replayed || run.counts().replays() > 0)
                                .filter(run -> from == null || run.id().compareTo(from) >= 0)
                                .map(DatabaseRows.RunRow::id)
                                .toList();
                        assertEquals(expected, paged(wanted), wanted::toString);
                    }
                }
            }
        }
    }

    private List<RunId> paged(StoreQueries.RunFilter wanted) {
        List<RunId> all = new ArrayList<>();
        List<RunId> page = ids(wanted);
        while (!page.isEmpty()) {
            all.addAll(page);
            page = ids(wanted.page(page.getLast(), wanted.limit()));
        }
        return all;
    }

    @Test
    default void a_workspace_sees_its_own_failures_alone() {
        RunId ours = started(client().ws, TestStoreClient.WORKFLOW, null);
        int other = client().ws + 1;
        client().publish(other, "theirs", "wf_theirs");
        RunId theirs = started(other, "wf_theirs", null);
        client().apply(client().failed(ours));
        client().apply(client().failed(theirs));
        assertEquals(
                List.of(ours),
                ids(new StoreQueries.RunFilter(client().ws, null, RunState.FAILED, null, false, 0, null, 9, null)));
        assertEquals(
                List.of(theirs),
                ids(new StoreQueries.RunFilter(other, null, RunState.FAILED, null, false, 0, null, 9, null)));
        assertEquals(
                List.of(),
                ids(new StoreQueries.RunFilter(
                        client().ws, "wf_theirs", RunState.FAILED, null, false, 0, null, 9, null)));
    }

    @Test
    default void requests_of_a_run_are_its_newest_in_ascending_order() {
        RunId run = client().fresh();
        List<StoreWrite.DuplicateRequest> rows = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            rows.add(new StoreWrite.DuplicateRequest(
                    client().id(),
                    client().ws,
                    run,
                    i == 3,
                    StoreFixture.START + i,
                    i == 3 ? 422 : 200,
                    "actor " + i,
                    i == 3 ? "amount" : null,
                    1 + i));
        }
        client().apply(new StoreWrite.RecordDuplicates(rows.reversed()));
        assertEquals(rows.subList(2, 7), client().reads.requestsOf(run, null, 5));
        assertEquals(rows, client().reads.requestsOf(run, null, 20));
        DatabaseRows.DuplicateCounts counts = client().runOf(run).counts();
        assertEquals(new DatabaseRows.DuplicateCounts(1 + 2 + 3 + 5 + 6 + 7, 4, StoreFixture.START + 6), counts);
    }

    @Test
    default void requests_of_a_workspace_are_paged_newest_first() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        List<StoreWrite.DuplicateRequest> rows = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            rows.add(client().seen(i % 2 == 0 ? one : two, false, 1));
        }
        client().apply(new StoreWrite.RecordDuplicates(rows));
        List<StoreWrite.DuplicateRequest> first = client().reads.requests(client().ws, null, 5);
        List<StoreWrite.DuplicateRequest> second =
                client().reads.requests(client().ws, first.getLast().id(), 5);
        List<StoreWrite.DuplicateRequest> paged = new ArrayList<>(first);
        paged.addAll(second);
        assertEquals(rows.reversed(), paged);
    }

    @Test
    default void duplicate_counts_of_many_runs_in_one_batch_stay_separate() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        client().applyAll(
                        new StoreWrite.RecordDuplicates(
                                List.of(client().seen(two, false, 10), client().seen(one, false, 1))),
                        new StoreWrite.RecordDuplicates(
                                List.of(client().seen(one, true, 100), client().seen(two, false, 1_000))));
        assertEquals(
                new DatabaseRows.DuplicateCounts(1, 100, StoreFixture.START),
                client().runOf(one).counts());
        assertEquals(
                new DatabaseRows.DuplicateCounts(1_010, 0, StoreFixture.START),
                client().runOf(two).counts());
    }

    @Test
    default void a_key_is_found_in_every_scope_and_only_by_full_match() {
        RunId plain = client().fresh(client().key("K"));
        client().fixture.setTime(StoreFixture.START + 1);
        RunId scoped = client().fresh(client().claim(
                        RunDeduplicationKey.KeyKind.WORKFLOW_KEY, "K\nwf_one", RunDeduplicationKeyRecord.HOLD));
        client().fixture.setTime(StoreFixture.START + 2);
        RunId distinct = client().fresh(client().claim(
                        RunDeduplicationKey.KeyKind.DISTINCT_KEY, "K\nabc", RunDeduplicationKeyRecord.HOLD));
        client().fresh(client().key("K2"));
        client().fresh(client().key("k"));
        client().fresh(client().claim(
                        RunDeduplicationKey.KeyKind.WORKFLOW_KEY, "K2\nwf_one", RunDeduplicationKeyRecord.HOLD));
        client().fresh(client().claim(RunDeduplicationKey.KeyKind.RUN, "K", RunDeduplicationKeyRecord.HOLD));
        List<DatabaseRows.KeyRow> found = client().reads.keyRecords(client().ws, "K");
        assertEquals(
                List.of(distinct, scoped, plain),
                found.stream().map(held -> held.keyRecord().run()).toList());
        assertEquals("actor", found.getFirst().actor());
        assertEquals("the correlation", found.getFirst().correlationId());
        assertEquals(List.of(), client().reads.keyRecords(client().ws, "nobody"));
    }

    @Test
    default void a_key_lookup_shows_the_error_of_its_run_and_its_counts() {
        RunId run = client().fresh(client().key("K"));
        client().apply(client().failed(run));
        client().apply(new StoreWrite.RecordDuplicates(
                List.of(client().seen(run, false, 4), client().seen(run, true, 2))));
        DatabaseRows.KeyRow held = client().reads.keyRecords(client().ws, "K").getFirst();
        assertEquals("broken", held.errorCode());
        assertEquals("pay", held.errorStep());
        assertEquals(new DatabaseRows.DuplicateCounts(4, 2, StoreFixture.START), held.counts());
        assertEquals(RunState.FAILED, held.keyRecord().state());
    }

    @Test
    default void keys_are_paged_by_prefix_over_all_scopes() {
        List<RunDeduplicationKey> names = new ArrayList<>();
        for (String text : List.of("a", "ab", "a b", "a~", "abc")) {
            names.add(client().key(text).key());
            client().fresh(client().key(text));
            RunDeduplicationKeyClaim scoped = client().claim(
                            RunDeduplicationKey.KeyKind.WORKFLOW_KEY,
                            text + "\nwf_one",
                            RunDeduplicationKeyRecord.HOLD);
            names.add(scoped.key());
            client().fresh(scoped);
        }
        client().fresh(client().key("A"));
        client().fresh(client().key("b"));
        names.sort(null);
        List<RunDeduplicationKey> paged = new ArrayList<>();
        RunDeduplicationKey after = null;
        List<DatabaseRows.KeyRow> page;
        do {
            page = client().reads.keys(client().ws, "a", after, 3);
            page.forEach(held -> paged.add(held.key()));
            after = page.isEmpty() ? null : page.getLast().key();
        } while (!page.isEmpty());
        assertEquals(names, paged);
        assertEquals(12, client().reads.keys(client().ws, "", null, 100).size());
        assertEquals(List.of(), client().reads.keys(client().ws, "zz", null, 100));
    }

    @Test
    default void effects_of_another_workspace_use_no_room_in_a_page() {
        int other = client().workspace("two").ws();
        client().publish(other, "one", "wf_other");
        TestEffect effect = TestEffect.of(client().ws, "d1");
        RunId mine = started(client().ws, TestStoreClient.WORKFLOW, null);
        client().apply(TestStoreClient.ops(mine, effect.reserve(mine)));
        for (EffectLedger.EffectState state :
                List.of(EffectLedger.EffectState.UNKNOWN, EffectLedger.EffectState.FREE)) {
            TestEffect foreign = TestEffect.of(other, "d" + state);
            RunId theirs = started(other, "wf_other", null);
            client().apply(TestStoreClient.ops(theirs, foreign.reserve(theirs)));
            client().apply(TestStoreClient.ops(theirs, foreign.settle(theirs, state, null)));
            assertEquals(List.of(), holders(StoreQueries.EffectFilter.in(client().ws, state, 9)));
            assertEquals(List.of(theirs), holders(StoreQueries.EffectFilter.in(other, state, 9)));
        }
        assertEquals(List.of(mine), holders(StoreQueries.EffectFilter.all(client().ws, 1)));
        assertNull(client().reads
                .effects(StoreQueries.EffectFilter.all(client().ws, 9))
                .next());
    }

    private List<RunId> holders(StoreQueries.EffectFilter filter) {
        return client().reads.effects(filter).found().stream()
                .map(row -> row.holder().run())
                .toList();
    }

    @Test
    default void two_workspaces_never_see_each_others_rows() {
        int other = client().workspace("two").ws();
        client().publish(other, "one", "wf_other");
        RunId mine = client().fresh(client().key("K"));
        RunId theirs = client().id();
        RunDeduplicationKeyClaim theirKey = new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(other, RunDeduplicationKey.KeyKind.KEY, "K"),
                TestStoreClient.bytes("d"),
                TestStoreClient.WINDOW,
                0,
                true);
        var admitted = client().apply(client().admit(run(theirs, other, "wf_other", "K"), List.of(theirKey), true));
        assertEquals(StoreWrite.AdmitResult.Fresh.class, admitted.getClass());
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(mine, false, 1))));
        StoreQueries reads = client().reads;
        assertNull(reads.run(other, mine));
        assertNull(reads.run(client().ws, theirs));
        assertEquals(List.of(theirs), ids(all(other)));
        assertEquals(List.of(mine), ids(all(client().ws)));
        assertEquals(
                List.of(),
                ids(new StoreQueries.RunFilter(other, TestStoreClient.WORKFLOW, null, null, false, 0, null, 9, null)));
        assertEquals(List.of(), reads.requests(other, null, 9));
        assertEquals(theirs, reads.keyRecords(other, "K").getFirst().keyRecord().run());
        assertEquals(1, reads.keyRecords(client().ws, "K").size());
        assertEquals(1, reads.keys(other, "", null, 9).size());
        assertNull(reads.workflow(other, TestStoreClient.WORKFLOW));
        assertNull(reads.workflow(client().ws, "wf_other"));
        assertEquals(List.of(), reads.tokens(other));
        assertThrows(IllegalArgumentException.class, () -> reads.run(0, mine));
    }
}
