package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.OverlapPolicy;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
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

    private final WorkflowTestKit kit = new WorkflowTestKit();

    @AfterEach
    void close() {
        kit.close();
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

    private ScheduleOperations schedules() {
        return TestRuntime.of(kit).schedules();
    }

    private DatabaseRows.ScheduleRow row() {
        List<DatabaseRows.ScheduleRow> rows =
                schedules().page(TestRuntime.of(kit).testAccess().workspace(), "", "", 10);
        assertEquals(1, rows.size());
        return rows.getFirst();
    }

    /** Oldest first. */
    private List<DatabaseRows.TickRow> ticks() {
        return schedules()
                .ticks(row().workflowId(), "hourly", Long.MAX_VALUE, 1_000)
                .reversed();
    }

    private DatabaseRows.RunRow run(DatabaseRows.TickRow tick) {
        RunId id = tick.run();
        assertNotNull(id);
        DatabaseRows.RunRow run = TestRuntime.of(kit).view(reads -> reads.run(row().ws(), id));
        assertNotNull(run);
        return run;
    }

    private static Instant nominal(DatabaseRows.TickRow tick) {
        Instant time = ScheduleOperations.instant(tick.nominal());
        assertNotNull(time);
        return time;
    }

    @Test
    void each_tick_is_one_run_under_its_nominal_time() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(HOUR.multipliedBy(3));
        List<DatabaseRows.TickRow> ticks = ticks();
        assertEquals(3, ticks.size());
        Set<Object> runs = new HashSet<>();
        for (DatabaseRows.TickRow tick : ticks) {
            assertEquals(ScheduleTickOutcome.FIRED, tick.state());
            DatabaseRows.RunRow run = run(tick);
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
        kit.register(slow(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(HOUR.multipliedBy(2));
        List<DatabaseRows.TickRow> ticks = ticks();
        assertEquals(
                List.of(ScheduleTickOutcome.FIRED, ScheduleTickOutcome.SKIPPED),
                ticks.stream().map(DatabaseRows.TickRow::state).toList());
        assertEquals("overlap", ticks.getLast().reason());
        assertEquals(ticks.getFirst().run(), ticks.getLast().run());
        TestRuntime.of(kit).run(row().ws(), run(ticks.getFirst()).runIdText()).signal(GO, "on", Key.of("k"));
        kit.clock().advance(HOUR);
        assertEquals(ScheduleTickOutcome.FIRED, ticks().getLast().state());
    }

    @Test
    void queued_ticks_run_one_after_another() {
        kit.register(slow(hourly(OverlapPolicy.QUEUE, CatchUpMode.LAST)));
        kit.clock().advance(HOUR.multipliedBy(2));
        List<DatabaseRows.TickRow> ticks = ticks();
        assertEquals(
                List.of(ScheduleTickOutcome.FIRED, ScheduleTickOutcome.FIRED),
                ticks.stream().map(DatabaseRows.TickRow::state).toList());
        assertEquals(RunState.WAITING, run(ticks.getFirst()).state());
        assertEquals(RunState.QUEUED, run(ticks.getLast()).state());
        TestRuntime.of(kit).run(row().ws(), run(ticks.getFirst()).runIdText()).signal(GO, "on", Key.of("k"));
        kit.settle();
        assertEquals(RunState.WAITING, run(ticks.getLast()).state());
    }

    @Test
    void an_edit_that_keeps_the_times_fires_nothing_twice_and_loses_nothing() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(HOUR);
        kit.register(echo(hourly(OverlapPolicy.ALLOW, CatchUpMode.ALL)));
        kit.settle();
        assertEquals(1, ticks().size());
        kit.clock().advance(HOUR);
        assertEquals(2, ticks().size());
        assertEquals(
                2, ticks().stream().map(DatabaseRows.TickRow::run).distinct().count());
    }

    @Test
    void a_removed_schedule_stops_firing_and_its_ticks_stay() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(HOUR);
        String workflow = row().workflowId();
        kit.register(echo());
        kit.clock().advance(HOUR.multipliedBy(5));
        assertTrue(schedules().ofWorkflow(workflow).isEmpty());
        assertEquals(
                1, schedules().ticks(workflow, "hourly", Long.MAX_VALUE, 10).size());
    }

    @Test
    void a_paused_schedule_records_each_tick_and_a_backfill_runs_them_once() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(HOUR);
        schedules().pause(row().ws(), row(), true, "tester");
        kit.clock().advance(HOUR.multipliedBy(2));
        schedules().pause(row().ws(), row(), false, "tester");
        kit.clock().advance(HOUR);
        assertEquals(
                List.of(
                        ScheduleTickOutcome.FIRED,
                        ScheduleTickOutcome.SKIPPED,
                        ScheduleTickOutcome.SKIPPED,
                        ScheduleTickOutcome.FIRED),
                ticks().stream().map(DatabaseRows.TickRow::state).toList());
        assertEquals("paused", ticks().get(1).reason());
        var span = new ScheduleOperations.BackfillRange(
                nominal(ticks().getFirst()), nominal(ticks().getLast()).plusSeconds(1));
        ScheduleOperations.BackfillResult first = schedules().backfill(row().ws(), row(), span);
        assertEquals(2, first.started());
        assertEquals(2, first.alreadyDone());
        ScheduleOperations.BackfillResult again = schedules().backfill(row().ws(), row(), span);
        assertEquals(0, again.started());
        assertEquals(4, again.alreadyDone());
        assertEquals(
                4, ticks().stream().map(DatabaseRows.TickRow::run).distinct().count());
    }

    @Test
    void a_crash_between_a_run_and_its_row_continues_with_the_same_run() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.NONE)));
        kit.crashAt("tick-admitted", 1);
        kit.clock().advance(HOUR);
        kit.clock().advance(Duration.ofMinutes(1));
        assertEquals(1, ticks().size());
        assertEquals(ScheduleTickOutcome.FIRED, ticks().getFirst().state());
        Long runs = TestRuntime.of(kit).view(reads -> (long) reads.runs(new dev.semel.store.StoreQueries.RunFilter(
                        row().ws(), null, null, null, false, 0, null, 10, null))
                .size());
        assertEquals(1L, runs);
    }

    @Test
    void a_crash_during_a_backfill_is_repaired_by_repeating_it() {
        kit.register(echo(hourly(OverlapPolicy.SKIP, CatchUpMode.LAST)));
        kit.clock().advance(Duration.ofMinutes(30));
        DatabaseRows.ScheduleRow row = row();
        Instant now = kit.clock().now();
        ScheduleOperations.BackfillRange span =
                new ScheduleOperations.BackfillRange(now.minus(HOUR.multipliedBy(3)), now);
        kit.crashAt("backfill-admitted", 1);
        org.junit.jupiter.api.Assertions.assertThrows(
                Throwable.class, () -> schedules().backfill(row.ws(), row, span));
        kit.settle();
        assertEquals(0, ticks().size());
        ScheduleOperations.BackfillResult again = schedules().backfill(row.ws(), row, span);
        assertEquals(0, again.started());
        assertEquals(3, again.alreadyDone(), "their runs were there");
        assertEquals(3, ticks().size());
    }

    @Test
    void ticks_that_the_workflow_rejects_are_recorded_as_rejected() {
        kit.register(TestSchedules.add(
                        Workflow.define("report", Integer.class, Integer.class),
                        hourly(OverlapPolicy.SKIP, CatchUpMode.LAST))
                .body((_, input) -> input));
        kit.clock().advance(HOUR);
        assertEquals(ScheduleTickOutcome.REJECTED, ticks().getFirst().state());
        assertEquals("invalid-input", ticks().getFirst().reason());
    }

    @Test
    void a_java_schedule_that_can_never_fire_is_rejected() {
        SemelException refused = org.junit.jupiter.api.Assertions.assertThrows(
                SemelException.class,
                () -> Workflow.define("never", String.class, String.class)
                        .schedule("leap", "0 0 30 2 *", java.time.ZoneOffset.UTC));
        assertTrue(refused.detail().contains("The day in this cron expression never occurs"), refused.detail());
    }
}
