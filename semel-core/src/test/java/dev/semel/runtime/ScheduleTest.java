package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.OverlapPolicy;
import dev.semel.schedule.TickOutcome;
import dev.semel.store.StoredRows;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.TestSchedules;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Schedules in a whole engine whose clock is moved by hand. */
final class ScheduleTest {
    private static final Signal<String> GO = Signal.of("go", String.class);
    private static final Duration HOUR = Duration.ofHours(1);

    private final WorkflowTestKit lab = new WorkflowTestKit();

    @AfterEach
    void close() {
        lab.close();
    }

    private static Schedule hourly(OverlapPolicy overlap, CatchUpMode mode) {
        return new Schedule(
                "hourly",
                new IntervalRule(HOUR, Instant.EPOCH),
                null,
                null,
                overlap,
                new CatchUpPolicy(mode, Duration.ofHours(6)),
                Duration.ZERO,
                JsonNodeFactory.instance.objectNode().put("kind", "report"));
    }

    private static Workflow<JsonNode, JsonNode> echo(Schedule... schedules) {
        var draft = Workflow.define("report", JsonNode.class, JsonNode.class);
        for (Schedule schedule : schedules) {
            TestSchedules.add(draft, schedule);
        }
        return draft.body((_, input) -> input);
    }

    private static Workflow<JsonNode, String> slow(Schedule schedule) {
        return TestSchedules.add(Workflow.define("report", JsonNode.class, String.class), schedule)
                .body((ctx, _) -> ctx.await(GO));
    }

    private Schedules schedules() {
        return TestRuntime.of(lab).schedules();
    }

    private StoredRows.ScheduleRow row() {
        List<StoredRows.ScheduleRow> rows = schedules().page(TestRuntime.of(lab).testAccess().workspace(), "", "", 10);
        assertEquals(1, rows.size());
        return rows.getFirst();
    }

    /** Oldest first. */
    private List<StoredRows.TickRow> ticks() {
        return schedules()
                .ticks(row().workflowId(), "hourly", Long.MAX_VALUE, 1_000)
                .reversed();
    }

    private StoredRows.RunRow run(StoredRows.TickRow tick) {
        RunId id = tick.run();
        assertNotNull(id);
        StoredRows.RunRow run = TestRuntime.of(lab).view(reads -> reads.run(row().ws(), id));
        assertNotNull(run);
        return run;
    }

    private static Instant nominal(StoredRows.TickRow tick) {
        Instant time = Schedules.instant(tick.nominal());
        assertNotNull(time);
        return time;
    }

    @Test
    void each_tick_is_one_run_under_its_nominal_time() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(HOUR.multipliedBy(3));
        List<StoredRows.TickRow> ticks = ticks();
        assertEquals(3, ticks.size());
        Set<Object> runs = new HashSet<>();
        for (StoredRows.TickRow tick : ticks) {
            assertEquals(TickOutcome.FIRED, tick.state());
            StoredRows.RunRow run = run(tick);
            runs.add(run.id());
            assertEquals(RunState.COMPLETED, run.state());
            Instant nominal = nominal(tick);
            assertEquals(0, nominal.getEpochSecond() % 3_600);
            assertEquals("{\"kind\":\"report\",\"scheduled_at\":\"" + nominal + "\"}", run.input());
            assertEquals(
                    "schedule:" + nominal.toString().replace(":00Z", "Z"),
                    run.origin().key());
        }
        assertEquals(3, runs.size());
    }

    @Test
    void a_tick_beside_an_unfinished_run_is_skipped_and_names_that_run() {
        lab.register(slow(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(HOUR.multipliedBy(2));
        List<StoredRows.TickRow> ticks = ticks();
        assertEquals(
                List.of(TickOutcome.FIRED, TickOutcome.SKIPPED),
                ticks.stream().map(StoredRows.TickRow::state).toList());
        assertEquals("overlap", ticks.getLast().reason());
        assertEquals(ticks.getFirst().run(), ticks.getLast().run());
        TestRuntime.of(lab).run(row().ws(), run(ticks.getFirst()).runIdText()).signal(GO, "on", Key.of("k"));
        lab.clock().advance(HOUR);
        assertEquals(TickOutcome.FIRED, ticks().getLast().state());
    }

    @Test
    void queued_ticks_go_one_after_another() {
        lab.register(slow(hourly(OverlapPolicy.QUEUE, CatchUpMode.LAST)));
        lab.clock().advance(HOUR.multipliedBy(2));
        List<StoredRows.TickRow> ticks = ticks();
        assertEquals(
                List.of(TickOutcome.FIRED, TickOutcome.FIRED),
                ticks.stream().map(StoredRows.TickRow::state).toList());
        assertEquals(RunState.WAITING, run(ticks.getFirst()).state());
        assertEquals(RunState.QUEUED, run(ticks.getLast()).state());
        TestRuntime.of(lab).run(row().ws(), run(ticks.getFirst()).runIdText()).signal(GO, "on", Key.of("k"));
        lab.settle();
        assertEquals(RunState.WAITING, run(ticks.getLast()).state());
    }

    @Test
    void an_edit_that_leaves_the_times_alone_fires_nothing_twice_and_loses_nothing() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(HOUR);
        lab.register(echo(hourly(OverlapPolicy.ALLOW, CatchUpMode.ALL)));
        lab.settle();
        assertEquals(1, ticks().size());
        lab.clock().advance(HOUR);
        assertEquals(2, ticks().size());
        assertEquals(2, ticks().stream().map(StoredRows.TickRow::run).distinct().count());
    }

    @Test
    void a_removed_schedule_fires_no_more_and_its_ticks_stay() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(HOUR);
        String workflow = row().workflowId();
        lab.register(echo());
        lab.clock().advance(HOUR.multipliedBy(5));
        assertTrue(schedules().ofWorkflow(workflow).isEmpty());
        assertEquals(
                1, schedules().ticks(workflow, "hourly", Long.MAX_VALUE, 10).size());
    }

    @Test
    void a_paused_schedule_tells_each_tick_and_a_backfill_gives_them_runs_once() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(HOUR);
        schedules().pause(row().ws(), row(), true, "tester");
        lab.clock().advance(HOUR.multipliedBy(2));
        schedules().pause(row().ws(), row(), false, "tester");
        lab.clock().advance(HOUR);
        assertEquals(
                List.of(TickOutcome.FIRED, TickOutcome.SKIPPED, TickOutcome.SKIPPED, TickOutcome.FIRED),
                ticks().stream().map(StoredRows.TickRow::state).toList());
        assertEquals("paused", ticks().get(1).reason());
        var span = new Schedules.BackfillRange(
                nominal(ticks().getFirst()), nominal(ticks().getLast()).plusSeconds(1));
        Schedules.BackfillResult first = schedules().backfill(row().ws(), row(), span);
        assertEquals(2, first.started());
        assertEquals(2, first.alreadyDone());
        Schedules.BackfillResult again = schedules().backfill(row().ws(), row(), span);
        assertEquals(0, again.started());
        assertEquals(4, again.alreadyDone());
        assertEquals(4, ticks().stream().map(StoredRows.TickRow::run).distinct().count());
    }

    @Test
    void a_death_between_a_run_and_its_row_is_made_good_with_the_same_run() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.NONE)));
        lab.crashAt("tick-admitted", 1);
        lab.clock().advance(HOUR);
        lab.clock().advance(Duration.ofMinutes(1));
        assertEquals(1, ticks().size());
        assertEquals(TickOutcome.FIRED, ticks().getFirst().state());
        Long runs = TestRuntime.of(lab)
                .view(reads -> (long) reads.runs(
                                new dev.semel.store.StoreQueries.RunFilter(row().ws(), null, null, null, false, 0, null, 10))
                        .size());
        assertEquals(1L, runs);
    }

    @Test
    void a_death_in_a_backfill_is_made_good_by_asking_again() {
        lab.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        lab.clock().advance(Duration.ofMinutes(30));
        StoredRows.ScheduleRow row = row();
        Instant now = lab.clock().now();
        Schedules.BackfillRange span = new Schedules.BackfillRange(now.minus(HOUR.multipliedBy(3)), now);
        lab.crashAt("backfill-admitted", 1);
        org.junit.jupiter.api.Assertions.assertThrows(
                Throwable.class, () -> schedules().backfill(row.ws(), row, span));
        lab.settle();
        assertEquals(0, ticks().size());
        Schedules.BackfillResult again = schedules().backfill(row.ws(), row, span);
        assertEquals(0, again.started());
        assertEquals(3, again.alreadyDone(), "their runs were there");
        assertEquals(3, ticks().size());
    }

    @Test
    void ticks_that_the_workflow_does_not_take_are_told_as_refused() {
        lab.register(TestSchedules.add(Workflow.define("report", Integer.class, Integer.class), hourly(OverlapPolicy.SKIP, CatchUpMode.LAST))
                .body((_, input) -> input));
        lab.clock().advance(HOUR);
        assertEquals(TickOutcome.REFUSED, ticks().getFirst().state());
        assertEquals("invalid-input", ticks().getFirst().reason());
    }

    @Test
    void a_schedule_in_java_that_can_never_fire_is_not_defined() {
        SemelException refused = org.junit.jupiter.api.Assertions.assertThrows(
                SemelException.class,
                () -> Workflow.define("never", String.class, String.class)
                        .schedule("leap", "0 0 30 2 *", java.time.ZoneOffset.UTC));
        assertTrue(refused.detail().contains("This day never occurs"), refused.detail());
    }
}
