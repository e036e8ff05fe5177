package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is counted is counted with what it counts, and only where something changed. */
interface FigureRules {
    long MINUTE = MetricUpdates.MICROS_PER_MINUTE;
    long HOUR = 60 * MINUTE;

    Desk desk();

    private MetricQueries figures() {
        return desk().reads.metrics();
    }

    private MetricQueries.MetricRange ever() {
        return new MetricQueries.MetricRange(desk().ws, "", 0, Long.MAX_VALUE);
    }

    /** All figures that are not zero, over all time and steps. */
    private Map<MetricCounter, Long> counted() {
        Map<MetricCounter, Long> counted = new TreeMap<>();
        figures().sums(ever(), 60).forEach(sum -> counted.merge(sum.counter(), sum.count(), Long::sum));
        return counted;
    }

    private List<RunId> behind(MetricCounter figure) {
        return figures().facts(ever(), figure, MetricQueries.FactCursor.START, 100).stream()
                .map(MetricUpdates.MetricFact::run)
                .toList();
    }

    /** A write whose answer was lost is applied again. */
    private void twice(StoreWrite<?>... writes) {
        desk().decided(writes);
        desk().decided(writes);
    }

    @Test
    default void a_trigger_is_counted_once_with_its_run() {
        RunId keyed = desk().id();
        RunId bare = desk().id();
        NewRun like = desk().run(bare);
        NewRun.TriggerOrigin nameless = new NewRun.TriggerOrigin(like.origin().triggerSource(), "actor", null, null);
        NewRun unkeyed =
                new NewRun(bare, desk().ws, null, Desk.WORKFLOW, 1, RunState.STARTED, nameless, "{}", like.fields());
        twice(desk().admit(keyed, desk().key("K")));
        twice(desk().admit(unkeyed, List.of(), true));
        desk().apply(desk().admit(desk().id(), desk().key("K")));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.UNKEYED, 1L), counted(), "the third found the name held");
    }

    @Test
    default void a_safe_replay_is_no_request_of_a_caller() {
        RunId first = desk().fresh();
        NewRun.RunParentage links = new NewRun.RunParentage(first, null, first);
        desk().apply(desk().admit(desk().linked(desk().id(), links, null, RunState.STARTED), List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void repeats_and_conflicts_are_counted_as_often_as_they_came() {
        RunId run = desk().fresh(desk().key("K"));
        StoreWrite.DuplicateRequest same = new StoreWrite.DuplicateRequest(desk().id(), desk().ws, run, true, Place.START, 409, "actor", null, 1);
        twice(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 5), desk().seen(run, true, 2), same)));
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 1))));
        assertEquals(
                Map.of(MetricCounter.KEYED, 1L, MetricCounter.REPLAYED, 6L, MetricCounter.CONFLICT, 2L, MetricCounter.SAME_PAYLOAD, 1L), counted());
    }

    @Test
    default void a_key_that_comes_after_its_window_is_an_expired_one_and_says_since_when() {
        desk().apply(desk().end(desk().fresh(desk().key("K", 0))));
        desk().place.setTime(Place.START + Desk.WINDOW + HOUR);
        RunId late = desk().id();
        twice(desk().admit(late, desk().key("K", 0)));
        assertEquals(Map.of(MetricCounter.KEYED, 2L, MetricCounter.EXPIRED, 1L), counted());
        MetricUpdates.MetricFact fact =
                figures().facts(ever(), MetricCounter.EXPIRED, MetricQueries.FactCursor.START, 9).getFirst();
        assertEquals(late, fact.run());
        assertEquals(Desk.WINDOW + HOUR, fact.at() - fact.keyFirstUsedAt());
    }

    @Test
    default void a_key_that_was_let_go_is_no_expired_one() {
        KeyClaim key = desk().key("K");
        RunId first = desk().fresh(key);
        desk().change(new StoreCommand.ReleaseKey(key.key(), first, desk().by("somebody", "because")));
        desk().fresh(key);
        assertEquals(Map.of(MetricCounter.KEYED, 2L), counted());
    }

    @Test
    default void a_run_that_completes_after_a_failed_attempt_has_recovered() {
        RunId straight = desk().fresh();
        RunId stumbled = desk().fresh();
        RunId failed = desk().fresh();
        twice(desk().end(straight));
        StoreWrite.RunResult output = StoreWrite.RunResult.output("1");
        twice(new StoreWrite.EndRun(new StoreWrite.RunExecution(stumbled, 1), RunState.COMPLETED, output, "[]", List.of(), true));
        StoreWrite.RunResult error = new StoreWrite.RunResult(null, "broken", "it broke", "pay");
        twice(new StoreWrite.EndRun(new StoreWrite.RunExecution(failed, 1), RunState.FAILED, error, "[]", List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 3L, MetricCounter.RECOVERED, 1L), counted());
        assertEquals(List.of(stumbled), behind(MetricCounter.RECOVERED));
    }

    @Test
    default void a_run_whose_worker_died_has_recovered_even_if_it_came_further_since() {
        RunId run = desk().fresh();
        desk().place.setTime(Place.START + 2 * Desk.TTL);
        WorkerLeases others = desk().store.openLeases();
        others.start(78, "other", desk().slots(), 10 * Desk.TTL);
        others.takeOverExpired();
        CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(78, 0);
        StoreWrite.RunExecution by = desk().applyAs(hold, new StoreWrite.ClaimRuns(10)).getFirst();
        desk().applyAs(hold, new StoreWrite.AppendJournal(by, 0, "[\"a\"]", RunState.RUNNING, List.of(), null));
        desk().applyAs(hold, desk().end(by));
        others.close();
        assertEquals(List.of(run), behind(MetricCounter.RECOVERED));
    }

    @Test
    default void an_accepted_effect_is_a_write_on_its_object_and_counted_once() {
        RunId run = desk().fresh();
        Deed deed = Deed.of(desk().ws, "d");
        desk().apply(Desk.ops(run, deed.reserve(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted(), "not yet");
        twice(Desk.ops(run, deed.done(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.WRITTEN, 1L), counted());
        Deed other = Deed.of(desk().ws, "e");
        desk().apply(Desk.ops(run, other.reserve(run)));
        desk().apply(Desk.ops(run, other.done(run)));
        assertEquals(
                List.of(new MetricQueries.WriteCounts(Desk.WORKFLOW, 2, 1)), figures().writeCounts(ever()));
        assertEquals(
                List.of(new MetricQueries.ObjectWrites(Desk.WORKFLOW, "order 1", 2, Place.START, Place.START)),
                figures().mostWrittenObjects(ever(), 1, 10));
        assertEquals(List.of(), figures().mostWrittenObjects(ever(), 2, 10));
    }

    @Test
    default void an_effect_that_was_refused_or_is_in_doubt_is_no_write() {
        RunId run = desk().fresh();
        Deed deed = Deed.of(desk().ws, "d");
        desk().apply(Desk.ops(run, deed.reserve(run)));
        desk().apply(Desk.ops(run, deed.settle(run, EffectLedger.EffectState.UNKNOWN, null)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
        assertEquals(List.of(), figures().inDoubtCounts(desk().ws), "its run does not wait for anybody");
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"decision\"}", 9);
        desk().apply(new StoreWrite.AppendJournal(new StoreWrite.RunExecution(run, 1), 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(
                List.of(new MetricQueries.InDoubtCount(Desk.WORKFLOW, 1, Place.START)),
                figures().inDoubtCounts(desk().ws));
        StoreCommand.DecideEffect happened = new StoreCommand.DecideEffect(deed.id(), run, "{}", desk().by("somebody", "I looked"));
        desk().change(happened);
        desk().change(happened);
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.WRITTEN, 1L), counted(), "a person said that it happened");
        assertEquals(List.of(), figures().inDoubtCounts(desk().ws));
    }

    @Test
    default void a_doubt_of_a_replay_about_what_another_run_sent_is_one_doubt() {
        RunId run = desk().fresh();
        Deed deed = Deed.of(desk().ws, "d");
        desk().apply(Desk.ops(run, deed.reserve(run)));
        desk().apply(Desk.ops(run, deed.settle(run, EffectLedger.EffectState.UNKNOWN, null)));
        desk().apply(desk().failed(run));
        assertEquals(List.of(), figures().inDoubtCounts(desk().ws), "nobody was asked");
        RunId replay = desk().id();
        var links = new NewRun.RunParentage(run, null, run);
        desk().apply(desk().admit(desk().linked(replay, links, null, RunState.STARTED), List.of(), true));
        desk().apply(Desk.ops(replay, deed.reserve(Deed.in(run, replay))));
        var question = new ReviewOperation.ReviewQuestion(ReviewOperation.ReviewKind.DOUBT, "pay", deed.id().digest(), "role:ops", "{}", 0);
        desk().change(new StoreCommand.ReviewCommand<>(
                new ReviewOperation.OpenReview(new StoreWrite.RunExecution(replay, 1), desk().ws, Desk.WORKFLOW, question)));
        assertEquals(
                List.of(new MetricQueries.InDoubtCount(Desk.WORKFLOW, 1, Place.START)),
                figures().inDoubtCounts(desk().ws));
        desk().change(new StoreCommand.DecideEffect(deed.id(), run, "{}", desk().by("somebody", "I looked")));
        assertEquals(List.of(), figures().inDoubtCounts(desk().ws));
    }

    @Test
    default void a_suppressed_effect_is_counted_with_its_worth() {
        RunId run = desk().fresh();
        twice(Desk.ops(run, Deed.of(desk().ws, "of the step").suppressed(run)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.SUPPRESSED, 1L), counted());
        MetricUpdates.MetricFact fact = figures()
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
    default void replayed_requests_of_a_time_are_summed_by_the_run_they_met_slice_by_slice() {
        RunId run = desk().fresh();
        RunId other = desk().fresh();
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 2), desk().seen(other, true, 9))));
        desk().place.setTime(Place.START + HOUR);
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 3), desk().seen(other, false, 4))));
        desk().place.setTime(Place.START + 2 * HOUR);
        desk().apply(new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 50))));
        var first =
                new MetricQueries.ReplayedRun(run, 5, Desk.WORKFLOW, 1, desk().runOf(run).input());
        var second = new MetricQueries.ReplayedRun(
                other, 4, Desk.WORKFLOW, 1, desk().runOf(other).input());
        var range = new MetricQueries.MetricRange(desk().ws, Desk.WORKFLOW, Place.START, Place.START + 2 * HOUR);
        assertEquals(new MetricQueries.ReplayedPage(List.of(first, second), null), figures().replayedRuns(range, among(10)));
        MetricQueries.ReplayedPage slice = figures().replayedRuns(range, among(4));
        assertNotNull(slice.next());
        MetricQueries.ReplayedPage rest = figures().replayedRuns(range, among(4).continueAfter(slice.next()));
        assertNull(rest.next());
        long times = slice.runs().stream().mapToLong(MetricQueries.ReplayedRun::requests).sum();
        assertEquals(
                9,
                times + rest.runs().stream().mapToLong(MetricQueries.ReplayedRun::requests).sum());
        assertEquals(
                List.of(),
                figures()
                        .replayedRuns(new MetricQueries.MetricRange(desk().ws, "wf_none", 0, Long.MAX_VALUE), among(10))
                        .runs());
    }

    private RunId failedAt(long at) {
        RunId run = desk().fresh();
        desk().place.setTime(at);
        desk().apply(desk().failed(run));
        return run;
    }

    @Test
    default void failures_are_found_by_when_they_happened_whenever_their_runs_began() {
        RunId slow = desk().fresh();
        RunId first = failedAt(Place.START + HOUR);
        failedAt(Place.START + HOUR + 1);
        desk().apply(desk().end(desk().fresh()));
        desk().place.setTime(Place.START + 2 * HOUR);
        desk().apply(new StoreWrite.EndRun(slow, RunState.FAILED, new StoreWrite.RunResult(null, "slow", "it was slow", "ask"), "[]"));
        failedAt(Place.START + 3 * HOUR);
        long since = Place.START + HOUR;
        var range = new MetricQueries.MetricRange(desk().ws, Desk.WORKFLOW, since, Place.START + 3 * HOUR);
        var twice = new MetricQueries.FailureGroup("broken", "pay", 2);
        var once = new MetricQueries.FailureGroup("slow", "ask", 1);
        assertEquals(
                new MetricQueries.FailureSummary(3, false, first, List.of(twice, once)),
                figures().failures(range, 4));
        assertEquals(
                new MetricQueries.FailureSummary(1, true, first, List.of(new MetricQueries.FailureGroup("broken", "pay", 1))),
                figures().failures(range, 1));
        var asking = new MetricQueries.MetricRange(desk().ws, "", "ask", since, Long.MAX_VALUE);
        assertEquals(
                new MetricQueries.FailureSummary(1, false, slow, List.of(once)), figures().failures(asking, 9));
        var nobody = new MetricQueries.FailureSummary(0, false, null, List.of());
        assertEquals(nobody, figures().failures(new MetricQueries.MetricRange(desk().ws, "", 0, since), 9));
        assertEquals(nobody, figures().failures(new MetricQueries.MetricRange(desk().ws + 1, "", 0, Long.MAX_VALUE), 9));
        assertEquals(nobody, figures().failures(new MetricQueries.MetricRange(desk().ws, "wf_none", 0, Long.MAX_VALUE), 9));
    }

    @Test
    default void nothing_is_counted_for_an_owner_that_lost_its_run() {
        RunId run = desk().fresh();
        Deed deed = Deed.of(desk().ws, "d");
        desk().apply(Desk.ops(run, deed.reserve(run)));
        StoreWrite.RunExecution old = new StoreWrite.RunExecution(run, 0);
        desk().apply(Desk.ops(old, deed.done(run)));
        desk().apply(new StoreWrite.EndRun(old, RunState.COMPLETED, StoreWrite.RunResult.output("1"), "[]", List.of(), true));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void minutes_become_hours_and_no_count_is_lost() {
        desk().fresh(desk().key("a"));
        desk().place.setTime(Place.START + MINUTE);
        desk().fresh(desk().key("b"));
        desk().place.setTime(Place.START + 5 * HOUR);
        desk().fresh(desk().key("c"));
        var tidy = new StoreCommand.CompactMetrics((Place.START + 2 * HOUR) / MINUTE, 0, 0, 100);
        assertTrue(figures().needsCompaction(tidy));
        assertEquals(2, desk().change(tidy));
        assertEquals(0, desk().change(tidy));
        assertFalse(figures().needsCompaction(tidy));
        long hour = Place.START / HOUR * 60;
        assertEquals(
                List.of(
                        new MetricQueries.CounterSum(Desk.WORKFLOW, MetricCounter.KEYED, "", hour, 2),
                        new MetricQueries.CounterSum(Desk.WORKFLOW, MetricCounter.KEYED, "", (Place.START + 5 * HOUR) / MINUTE, 1)),
                figures().sums(ever(), 1));
        assertEquals(
                List.of(new MetricQueries.CounterTotal(desk().ws, Desk.WORKFLOW, MetricCounter.KEYED, "", 3)),
                figures().totals(0, Long.MAX_VALUE));
    }

    @Test
    default void hours_go_in_the_end() {
        RunId old = desk().fresh();
        desk().apply(desk().end(old));
        desk().place.setTime(Place.START + 5 * HOUR);
        desk().fresh();
        assertEquals(1, desk().change(new StoreCommand.DeleteRuns(List.of(old), Place.START + HOUR)));
        long line = (Place.START + 4 * HOUR) / MINUTE;
        desk().change(new StoreCommand.CompactMetrics(line, 0, 0, 100));
        assertEquals(Map.of(MetricCounter.KEYED, 2L), counted(), "a count outlives its run");
        assertEquals(1, desk().change(new StoreCommand.CompactMetrics(line, line, 0, 100)));
        assertEquals(Map.of(MetricCounter.KEYED, 1L), counted());
    }

    @Test
    default void a_range_has_its_first_minute_and_not_its_last() {
        desk().fresh(desk().key("a"));
        long start = Place.START / MINUTE * MINUTE;
        assertEquals(
                1,
                figures()
                        .sums(new MetricQueries.MetricRange(desk().ws, Desk.WORKFLOW, start, start + MINUTE), 1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(desk().ws, "", start - MINUTE, start), 1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(desk().ws, "wf_else", start, start + MINUTE), 1)
                        .size());
        assertEquals(
                0,
                figures()
                        .sums(new MetricQueries.MetricRange(desk().ws + 1, "", start, start + MINUTE), 1)
                        .size());
    }

    @Test
    default void facts_go_when_their_time_is_over_and_the_counts_stay() {
        RunId run = desk().fresh();
        desk().apply(Desk.ops(run, Deed.of(desk().ws, "of the step").suppressed(run)));
        assertEquals(1, desk().change(new StoreCommand.CompactMetrics(0, 0, Place.START + 1, 100)));
        assertEquals(List.of(), behind(MetricCounter.SUPPRESSED));
        assertEquals(Map.of(MetricCounter.KEYED, 1L, MetricCounter.SUPPRESSED, 1L), counted());
    }
}
