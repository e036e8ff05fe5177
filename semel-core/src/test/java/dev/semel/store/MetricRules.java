package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is counted is counted with what it counts, and only where something changed. */
interface MetricRules {
    long MINUTE = MetricUpdateCollector.MICROS_PER_MINUTE;
    long HOUR = 60 * MINUTE;

    TestStoreClient client();

    private MetricQueries figures() {
        return client().reads.metrics();
    }

    private MetricQueries.MetricRange ever() {
        return new MetricQueries.MetricRange(client().ws, "", 0, Long.MAX_VALUE);
    }

    /** All figures that are not zero, over all time and steps. */
    private Map<MetricCounter, Long> counted() {
        Map<MetricCounter, Long> counted = new TreeMap<>();
        figures().sums(ever(), 60).forEach(sum -> counted.merge(sum.counter(), sum.count(), Long::sum));
        return counted;
    }

    private List<RunId> behind(MetricCounter figure) {
        return figures().facts(ever(), figure, MetricQueries.FactCursor.START, 100).stream()
                .map(MetricUpdateCollector.MetricFact::run)
                .toList();
    }

    /** A write whose answer was lost is applied again. */
    private void twice(StoreWrite<?>... writes) {
        client().decided(writes);
        client().decided(writes);
    }

    @Test
    default void a_trigger_is_counted_once_with_its_run() {
        RunId keyed = client().id();
        RunId runId = client().id();
        NewRun like = client().run(runId);
        NewRun.TriggerOrigin nameless = new NewRun.TriggerOrigin(like.origin().triggerSource(), "actor", null, null);
        NewRun unkeyed = new NewRun(
                runId,
                client().ws,
                null,
                TestStoreClient.WORKFLOW,
                1,
                RunState.STARTED,
                nameless,
                "{}",
                like.fields(),
                NewRun.RunParentage.NONE,
                null);
        twice(client().admit(keyed, client().key("K")));
        twice(client().admit(unkeyed, List.of(), true));
        client().apply(client().admit(client().id(), client().key("K")));
        assertEquals(
                Map.of(MetricCounter.KEYED, 1L, MetricCounter.UNKEYED, 1L), counted(), "the third found the name held");
    }

    @Test
    default void a_safe_replay_is_no_request_of_a_caller() {
        RunId first = client().fresh();
        NewRun.RunParentage links = new NewRun.RunParentage(first, null, first);
        client().apply(client().admit(client().linked(client().id(), links, null, RunState.STARTED), List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void repeats_and_conflicts_are_counted_as_often_as_they_occurred() {
        RunId run = client().fresh(client().key("K"));
        StoreWrite.DuplicateRequest same = new StoreWrite.DuplicateRequest(
                client().id(), client().ws, run, true, StoreFixture.START, 409, "actor", null, 1);
        twice(new StoreWrite.RecordDuplicates(
                List.of(client().seen(run, false, 5), client().seen(run, true, 2), same)));
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(run, false, 1))));
        assertEquals(
                Map.of(
                        MetricCounter.KEYED,
                        1L,
                        MetricCounter.REPLAYED,
                        6L,
                        MetricCounter.CONFLICT,
                        2L,
                        MetricCounter.DUPLICATE_PAYLOAD,
                        1L),
                counted());
    }

    @Test
    default void a_key_sent_after_its_window_counts_as_expired_with_its_expiry() {
        client().apply(client().end(client().fresh(client().key("K", 0))));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW + HOUR);
        RunId late = client().id();
        twice(client().admit(late, client().key("K", 0)));
        assertEquals(Map.of(MetricCounter.KEYED, 2L, MetricCounter.EXPIRED, 1L), counted());
        MetricUpdateCollector.MetricFact fact = figures()
                .facts(ever(), MetricCounter.EXPIRED, MetricQueries.FactCursor.START, 9)
                .getFirst();
        assertEquals(late, fact.run());
        assertEquals(TestStoreClient.WINDOW + HOUR, fact.at() - fact.keyFirstUsedAt());
    }

    @Test
    default void a_released_key_is_not_counted_as_expired() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId first = client().fresh(key);
        client().change(new StoreWriteCommand.ReleaseKey(key.key(), first, client().by("somebody", "because")));
        client().fresh(key);
        assertEquals(Map.of(MetricCounter.KEYED, 2L), counted());
    }

    @Test
    default void a_run_that_completes_after_a_failed_attempt_counts_as_recovered() {
        RunId straight = client().fresh();
        RunId stumbled = client().fresh();
        RunId failed = client().fresh();
        twice(client().end(straight));
        StoreWrite.RunResult output = StoreWrite.RunResult.output("1");
        twice(new StoreWrite.EndRun(
                new StoreWrite.RunExecution(stumbled, 1), RunState.COMPLETED, output, "[]", List.of(), true));
        StoreWrite.RunResult error = new StoreWrite.RunResult(null, "broken", "it broke", "pay");
        twice(new StoreWrite.EndRun(
                new StoreWrite.RunExecution(failed, 1), RunState.FAILED, error, "[]", List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 3L, MetricCounter.RECOVERED, 1L), counted());
        assertEquals(List.of(stumbled), behind(MetricCounter.RECOVERED));
    }

    @Test
    default void a_run_whose_worker_died_counts_as_recovered_even_after_progress() {
        RunId run = client().fresh();
        client().fixture.setTime(StoreFixture.START + 2 * TestStoreClient.TTL);
        WorkerLeases others = client().store.openLeases();
        others.start(78, "other", client().slots(), 10 * TestStoreClient.TTL);
        others.takeOverExpired(0);
        CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(78, 0);
        StoreWrite.RunExecution by =
                client().applyAs(hold, new StoreWrite.ClaimRuns(10)).getFirst();
        client().applyAs(hold, new StoreWrite.AppendJournal(by, 0, "[\"a\"]", RunState.RUNNING, List.of(), null));
        client().applyAs(hold, client().end(by));
        others.close();
        assertEquals(List.of(run), behind(MetricCounter.RECOVERED));
    }

    @Test
    default void an_accepted_effect_is_a_write_on_its_object_and_counted_once() {
        RunId run = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d");
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted(), "not yet");
        twice(TestStoreClient.ops(run, effect.done(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.WRITTEN, 1L), counted());
        TestEffect other = TestEffect.of(client().ws, "e");
        client().apply(TestStoreClient.ops(run, other.reserve(run)));
        client().apply(TestStoreClient.ops(run, other.done(run)));
        assertEquals(
                List.of(new MetricQueries.WriteCounts(TestStoreClient.WORKFLOW, 2, 1)),
                figures().writeCounts(ever()));
        assertEquals(
                List.of(new MetricQueries.ObjectWrites(
                        TestStoreClient.WORKFLOW, "order 1", 2, StoreFixture.START, StoreFixture.START)),
                figures().mostWrittenObjects(ever(), 1, 10));
        assertEquals(List.of(), figures().mostWrittenObjects(ever(), 2, 10));
    }

    @Test
    default void a_rejected_or_in_doubt_effect_is_no_write() {
        RunId run = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d");
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        client().apply(TestStoreClient.ops(run, effect.settle(run, EffectLedger.EffectState.UNKNOWN, null)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
        assertEquals(List.of(), figures().inDoubtCounts(client().ws), "its run does not wait for anybody");
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 9, false, false);
        client().apply(new StoreWrite.AppendJournal(
                new StoreWrite.RunExecution(run, 1), 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(
                List.of(new MetricQueries.InDoubtCount(TestStoreClient.WORKFLOW, 1, StoreFixture.START)),
                figures().inDoubtCounts(client().ws));
        StoreWriteCommand.DecideEffect happened =
                new StoreWriteCommand.DecideEffect(effect.id(), run, "{}", client().by("somebody", "I looked"));
        client().change(happened);
        client().change(happened);
        assertEquals(
                Map.of(MetricCounter.KEYED, 1L, MetricCounter.WRITTEN, 1L),
                counted(),
                "a person said that it happened");
        assertEquals(List.of(), figures().inDoubtCounts(client().ws));
    }

    @Test
    default void a_replays_doubt_about_another_runs_effect_counts_once() {
        RunId run = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d");
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        client().apply(TestStoreClient.ops(run, effect.settle(run, EffectLedger.EffectState.UNKNOWN, null)));
        client().apply(client().failed(run));
        assertEquals(List.of(), figures().inDoubtCounts(client().ws), "nobody was asked");
        RunId replay = client().id();
        var links = new NewRun.RunParentage(run, null, run);
        client().apply(client().admit(client().linked(replay, links, null, RunState.STARTED), List.of(), true));
        client().apply(TestStoreClient.ops(replay, effect.reserve(TestEffect.in(run, replay))));
        var question = new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                "pay",
                effect.id().digest(),
                "role:ops",
                "{}",
                0);
        client().change(new StoreWriteCommand.ReviewCommand<>(new HumanReviewStoreWriteCommand.OpenReview(
                new StoreWrite.RunExecution(replay, 1), client().ws, TestStoreClient.WORKFLOW, question)));
        assertEquals(
                List.of(new MetricQueries.InDoubtCount(TestStoreClient.WORKFLOW, 1, StoreFixture.START)),
                figures().inDoubtCounts(client().ws));
        client().change(new StoreWriteCommand.DecideEffect(
                effect.id(), run, "{}", client().by("somebody", "I looked")));
        assertEquals(List.of(), figures().inDoubtCounts(client().ws));
    }

    @Test
    default void a_suppressed_effect_is_counted_with_its_saved_amount() {
        RunId run = client().fresh();
        twice(TestStoreClient.ops(run, TestEffect.of(client().ws, "of the step").suppressed(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.SUPPRESSED, 1L), counted());
        MetricUpdateCollector.MetricFact fact = figures()
                .facts(ever(), MetricCounter.SUPPRESSED, MetricQueries.FactCursor.START, 9)
                .getFirst();
        assertEquals("12.50 EUR", fact.worth());
        assertEquals("the other digest", fact.digest());
        assertEquals("pay", fact.step());
    }

    private static MetricQueries.RequestScan among(int looked) {
        return new MetricQueries.RequestScan(new RunId(0, 0), new RunId(-1L, -1L), looked);
    }

    @Test
    default void duplicates_of_a_period_are_summed_by_run_page_by_page() {
        RunId run = client().fresh();
        RunId other = client().fresh();
        client().apply(new StoreWrite.RecordDuplicates(
                List.of(client().seen(run, false, 2), client().seen(other, true, 9))));
        client().fixture.setTime(StoreFixture.START + HOUR);
        client().apply(new StoreWrite.RecordDuplicates(
                List.of(client().seen(run, false, 3), client().seen(other, false, 4))));
        client().fixture.setTime(StoreFixture.START + 2 * HOUR);
        client().apply(new StoreWrite.RecordDuplicates(List.of(client().seen(run, false, 50))));
        var first = new MetricQueries.ReplayedRun(
                run, 5, TestStoreClient.WORKFLOW, 1, client().runOf(run).input());
        var second = new MetricQueries.ReplayedRun(
                other, 4, TestStoreClient.WORKFLOW, 1, client().runOf(other).input());
        var range = new MetricQueries.MetricRange(
                client().ws, TestStoreClient.WORKFLOW, StoreFixture.START, StoreFixture.START + 2 * HOUR);
        assertEquals(
                new MetricQueries.ReplayedPage(List.of(first, second), null),
                figures().replayedRuns(range, among(10)));
        MetricQueries.ReplayedPage slice = figures().replayedRuns(range, among(4));
        assertNotNull(slice.next());
        MetricQueries.ReplayedPage rest = figures().replayedRuns(range, among(4).continueAfter(slice.next()));
        assertNull(rest.next());
        long times = slice.runs().stream()
                .mapToLong(MetricQueries.ReplayedRun::requests)
                .sum();
        assertEquals(
                9,
                times
                        + rest.runs().stream()
                                .mapToLong(MetricQueries.ReplayedRun::requests)
                                .sum());
        assertEquals(
                List.of(),
                figures()
                        .replayedRuns(
                                new MetricQueries.MetricRange(client().ws, "wf_none", 0, Long.MAX_VALUE), among(10))
                        .runs());
    }

    private RunId failedAt(long at) {
        RunId run = client().fresh();
        client().fixture.setTime(at);
        client().apply(client().failed(run));
        return run;
    }

    @Test
    default void failures_are_found_by_failure_time() {
        RunId slow = client().fresh();
        RunId first = failedAt(StoreFixture.START + HOUR);
        failedAt(StoreFixture.START + HOUR + 1);
        client().apply(client().end(client().fresh()));
        client().fixture.setTime(StoreFixture.START + 2 * HOUR);
        client().apply(new StoreWrite.EndRun(
                new StoreWrite.RunExecution(slow, 1),
                RunState.FAILED,
                new StoreWrite.RunResult(null, "slow", "it was slow", "ask"),
                "[]",
                List.of(),
                false));
        failedAt(StoreFixture.START + 3 * HOUR);
        long since = StoreFixture.START + HOUR;
        var range = new MetricQueries.MetricRange(
                client().ws, TestStoreClient.WORKFLOW, since, StoreFixture.START + 3 * HOUR);
        var twice = new MetricQueries.FailureGroup("broken", "pay", 2);
        var once = new MetricQueries.FailureGroup("slow", "ask", 1);
        assertEquals(
                new MetricQueries.FailureSummary(3, false, first, List.of(twice, once)),
                figures().failures(range, 4));
        assertEquals(
                new MetricQueries.FailureSummary(
                        1, true, first, List.of(new MetricQueries.FailureGroup("broken", "pay", 1))),
                figures().failures(range, 1));
        var metricRange = new MetricQueries.MetricRange(client().ws, "", "ask", since, Long.MAX_VALUE);
        assertEquals(
                new MetricQueries.FailureSummary(1, false, slow, List.of(once)),
                figures().failures(metricRange, 9));
        var nobody = new MetricQueries.FailureSummary(0, false, null, List.of());
        assertEquals(nobody, figures().failures(new MetricQueries.MetricRange(client().ws, "", 0, since), 9));
        assertEquals(
                nobody, figures().failures(new MetricQueries.MetricRange(client().ws + 1, "", 0, Long.MAX_VALUE), 9));
        assertEquals(
                nobody,
                figures().failures(new MetricQueries.MetricRange(client().ws, "wf_none", 0, Long.MAX_VALUE), 9));
    }

    @Test
    default void an_owner_that_lost_its_run_counts_nothing() {
        RunId run = client().fresh();
        TestEffect effect = TestEffect.of(client().ws, "d");
        client().apply(TestStoreClient.ops(run, effect.reserve(run)));
        StoreWrite.RunExecution old = new StoreWrite.RunExecution(run, 0);
        client().apply(TestStoreClient.ops(old, effect.done(run)));
        client().apply(new StoreWrite.EndRun(
                old, RunState.COMPLETED, StoreWrite.RunResult.output("1"), "[]", List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void minute_counts_become_hour_counts_without_loss() {
        client().fresh(client().key("a"));
        client().fixture.setTime(StoreFixture.START + MINUTE);
        client().fresh(client().key("b"));
        client().fixture.setTime(StoreFixture.START + 5 * HOUR);
        client().fresh(client().key("c"));
        var tidy = new StoreWriteCommand.CompactMetrics((StoreFixture.START + 2 * HOUR) / MINUTE, 0, 0, 100);
        assertTrue(figures().needsCompaction(tidy));
        assertEquals(2, client().change(tidy));
        assertEquals(0, client().change(tidy));
        assertFalse(figures().needsCompaction(tidy));
        long hour = StoreFixture.START / HOUR * 60;
        assertEquals(
                List.of(
                        new MetricQueries.CounterSum(TestStoreClient.WORKFLOW, MetricCounter.KEYED, "", hour, 2),
                        new MetricQueries.CounterSum(
                                TestStoreClient.WORKFLOW,
                                MetricCounter.KEYED,
                                "",
                                (StoreFixture.START + 5 * HOUR) / MINUTE,
                                1)),
                figures().sums(ever(), 1));
        assertEquals(
                List.of(new MetricQueries.CounterTotal(
                        client().ws, TestStoreClient.WORKFLOW, MetricCounter.KEYED, "", 3)),
                figures().totals(0, Long.MAX_VALUE));
    }

    @Test
    default void hour_counts_are_deleted_in_the_end() {
        RunId old = client().fresh();
        client().apply(client().end(old));
        client().fixture.setTime(StoreFixture.START + 5 * HOUR);
        client().fresh();
        assertEquals(1, client().change(new StoreWriteCommand.DeleteRuns(List.of(old), StoreFixture.START + HOUR)));
        long line = (StoreFixture.START + 4 * HOUR) / MINUTE;
        client().change(new StoreWriteCommand.CompactMetrics(line, 0, 0, 100));
        assertEquals(Map.of(MetricCounter.KEYED, 2L), counted(), "a count outlives its run");
        assertEquals(1, client().change(new StoreWriteCommand.CompactMetrics(line, line, 0, 100)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void a_range_includes_its_first_minute_and_not_its_last() {
        client().fresh(client().key("a"));
        long start = StoreFixture.START / MINUTE * MINUTE;
        assertEquals(
                1,
                figures()
                        .sums(
                                new MetricQueries.MetricRange(
                                        client().ws, TestStoreClient.WORKFLOW, start, start + MINUTE),
                                1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(client().ws, "", start - MINUTE, start), 1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(client().ws, "wf_else", start, start + MINUTE), 1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(client().ws + 1, "", start, start + MINUTE), 1)
                        .size());
    }

    @Test
    default void old_facts_are_deleted_and_the_counts_stay() {
        RunId run = client().fresh();
        client().apply(TestStoreClient.ops(
                run, TestEffect.of(client().ws, "of the step").suppressed(run)));
        assertEquals(1, client().change(new StoreWriteCommand.CompactMetrics(0, 0, StoreFixture.START + 1, 100)));
        assertEquals(List.of(), behind(MetricCounter.SUPPRESSED));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.SUPPRESSED, 1L), counted());
    }
}
