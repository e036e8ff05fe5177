package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.JavaWorkflow;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.CronRule;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.OverlapPolicy;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.TestSchedules;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Schedules among deployments, edits and outages: what is stored counts, and every nominal time is notified. */
final class ScheduleRepairTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private final WorkflowTestKit kit = new WorkflowTestKit();

    @AfterEach
    void close() {
        kit.close();
    }

    private static Schedule every(Duration interval, CatchUpMode mode) {
        return new Schedule(
                "often",
                new IntervalRule(interval, Instant.EPOCH),
                null,
                null,
                OverlapPolicy.ALLOW,
                new CatchUpPolicy(mode, Duration.ofHours(6)),
                Duration.ZERO,
                JsonNodeFactory.instance.objectNode());
    }

    private static Workflow<JsonNode, JsonNode> flow(String name, Schedule... schedules) {
        var draft = Workflow.define(name, JsonNode.class, JsonNode.class);
        Stream.of(schedules).forEach(schedule -> TestSchedules.add(draft, schedule));
        return draft.body((_, input) -> input);
    }

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private String idOf(String name) {
        DatabaseRows.WorkflowRow row = TestRuntime.of(kit).view(reads -> reads.workflow(ws(), name));
        assertNotNull(row);
        return row.workflowId();
    }

    private DatabaseRows.ScheduleRow row(String workflow) {
        DatabaseRows.ScheduleRow row = TestRuntime.of(kit).schedules().find(ws(), idOf(workflow), "often");
        assertNotNull(row);
        return row;
    }

    /** Oldest first. */
    private List<DatabaseRows.TickRow> ticks(String workflow) {
        return TestRuntime.of(kit)
                .schedules()
                .ticks(idOf(workflow), "often", Long.MAX_VALUE, 1_000)
                .reversed();
    }

    private static Instant nominal(DatabaseRows.TickRow tick) {
        Instant time = ScheduleOperations.instant(tick.nominal());
        assertNotNull(time);
        return time;
    }

    /** Another process publishes its version of a workflow. */
    private void publish(String name, String text) {
        TestRuntime.of(kit)
                .change(new StoreWriteCommand.PublishVersion(ws(), name, "wf_" + name, text, "another process"));
        kit.settle();
    }

    @Test
    void a_stored_schedule_reads_as_it_was_written() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        JsonNode data = StrictJsonCodec.parse("{\"n\":9007199254740993,\"x\":1.50,\"list\":[null,\"ä\"]}");
        Instant from = Instant.parse("2026-01-01T00:00:00Z");
        for (Schedule one : List.of(
                Schedule.of("plain", CronRule.of("30 2 * * *", berlin)),
                Schedule.of("every", new IntervalRule(Duration.ofSeconds(90), Instant.EPOCH)),
                new Schedule(
                        "all",
                        new IntervalRule(HOUR, from),
                        from.plusMillis(1),
                        from.plus(Duration.ofDays(9)),
                        OverlapPolicy.QUEUE,
                        new CatchUpPolicy(CatchUpMode.NONE, Duration.ofMinutes(7)),
                        Duration.ofSeconds(30),
                        data))) {
            Schedule read = Schedule.parse(one.name(), StrictJsonCodec.parse(one.toJson()));
            assertEquals(one, read);
            assertEquals(one.toJson(), read.toJson());
            assertEquals(
                    List.of(read),
                    JavaWorkflow.schedulesOfVersion(
                            JavaWorkflow.of(flow("f", one)).descriptor()));
        }
    }

    @Test
    void during_a_rolling_deployment_old_code_follows_the_published_schedule() {
        kit.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        Schedule newer = every(Duration.ofMinutes(20), CatchUpMode.LAST);
        publish("report", JavaWorkflow.of(flow("report", newer)).descriptor());
        assertEquals(newer.toJson(), row("report").spec());
        kit.clock().advance(HOUR);
        assertEquals(3, ticks("report").size());
    }

    @Test
    void a_schedule_row_that_differs_from_the_published_one_is_saved_again_when_due() {
        Schedule right = every(Duration.ofMinutes(20), CatchUpMode.LAST);
        kit.register(flow("report", right));
        kit.settle();
        DatabaseRows.ScheduleRow row = row("report");
        Schedule wrong = every(Duration.ofMinutes(50), CatchUpMode.LAST);
        TestRuntime.of(kit)
                .change(new StoreWriteCommand.SaveSchedules(
                        ws(),
                        row.workflowId(),
                        1,
                        List.of(new StoreWriteCommand.ScheduleUpdate(
                                "often", wrong.toJson(), row.nextNominal(), row.nextAt(), row)),
                        List.of()));
        kit.clock().advance(HOUR.multipliedBy(2));
        assertEquals(right.toJson(), row("report").spec());
        assertTrue(ticks("report").stream().filter(tick -> tick.state().ran()).count() >= 5);
    }

    @Test
    void an_edit_after_an_outage_records_every_abandoned_nominal_time() {
        kit.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        kit.clock().advance(HOUR);
        publish("report", "{\"semel\":1,\"java\":\"report\"}"); // it cannot be read here, so that nobody fires it
        kit.clock().advance(HOUR.multipliedBy(5));
        assertEquals(1, ticks("report").size());
        publish(
                "report",
                JavaWorkflow.of(flow("report", every(Duration.ofMinutes(7), CatchUpMode.LAST)))
                        .descriptor());
        List<DatabaseRows.TickRow> ticks = ticks("report");
        assertEquals(6, ticks.size());
        for (int i = 1; i < ticks.size(); i++) {
            assertEquals(ScheduleTickOutcome.SKIPPED, ticks.get(i).state());
            assertEquals("edited", ticks.get(i).reason());
            assertEquals(HOUR, Duration.between(nominal(ticks.get(i - 1)), nominal(ticks.get(i))));
        }
    }

    @Test
    void an_edit_that_finds_a_claimed_tick_with_a_run_records_the_run() {
        kit.register(flow("report", every(HOUR, CatchUpMode.NONE)));
        kit.crashAt("tick-admitted", 1);
        kit.clock().advance(HOUR);
        TestRuntime.of(kit)
                .change(new StoreWriteCommand.PublishVersion(
                        ws(),
                        "report",
                        "wf_report",
                        JavaWorkflow.of(flow("report", every(Duration.ofMinutes(7), CatchUpMode.NONE)))
                                .descriptor(),
                        "x"));
        kit.settle();
        DatabaseRows.TickRow first = ticks("report").getFirst();
        assertEquals(ScheduleTickOutcome.FIRED, first.state(), "its run is there, whatever the edit thinks of it");
        assertNotNull(first.run());
    }

    @Test
    void a_tick_whose_code_runs_on_another_worker_is_not_claimed() {
        kit.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        publish(
                "elsewhere",
                JavaWorkflow.of(flow("elsewhere", every(HOUR, CatchUpMode.NONE)))
                        .descriptor());
        DatabaseRows.ScheduleRow like = row("report");
        TestRuntime.of(kit)
                .change(new StoreWriteCommand.SaveSchedules(
                        ws(),
                        idOf("elsewhere"),
                        1,
                        List.of(new StoreWriteCommand.ScheduleUpdate(
                                "often", like.spec(), like.nextNominal(), like.nextAt(), null)),
                        List.of()));
        kit.clock().advance(HOUR);
        assertEquals(1, ticks("report").size(), "those beside it fire");
        assertNull(row("elsewhere").takenBy(), "taken here it would be late where it can be fired");
        assertEquals(like.nextNominal(), row("elsewhere").nextNominal());
        kit.register(flow("elsewhere", every(HOUR, CatchUpMode.NONE)));
        kit.settle();
        assertEquals(ScheduleTickOutcome.FIRED, ticks("elsewhere").getFirst().state());
    }

    @Test
    void an_unreadable_workflow_does_not_stop_other_schedules() {
        kit.register(flow("broken", every(HOUR, CatchUpMode.LAST)), flow("report", every(HOUR, CatchUpMode.LAST)));
        publish("broken", "{\"semel\":1,\"java\":\"broken\"}");
        kit.clock().advance(HOUR.multipliedBy(3));
        assertEquals(3, ticks("report").size());
        assertEquals(List.of(), ticks("broken"));
        assertNull(row("broken").takenBy());
    }

    @Test
    void a_backfill_of_a_time_without_ledger_records_is_rejected() {
        kit.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        kit.clock().advance(HOUR);
        Instant now = kit.clock().now();
        var old = new ScheduleOperations.BackfillRange(now.minus(Duration.ofDays(41)), now.minus(Duration.ofDays(39)));
        SemelException refused = assertThrows(
                SemelException.class, () -> TestRuntime.of(kit).schedules().backfill(ws(), row("report"), old));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertEquals(1, ticks("report").size(), "nothing was started");
    }

    @Test
    void a_backfill_reports_each_tick_as_started_existing_or_rejected() {
        kit.register(TestSchedules.add(
                        Workflow.define("report", JsonNode.class, JsonNode.class), every(HOUR, CatchUpMode.LAST))
                .body((_, input) -> input));
        kit.clock().advance(HOUR);
        Instant now = kit.clock().now();
        var span = new ScheduleOperations.BackfillRange(
                now.minus(HOUR.multipliedBy(4)).plusSeconds(1), now.plusSeconds(1));
        ScheduleOperations.BackfillResult filled =
                TestRuntime.of(kit).schedules().backfill(ws(), row("report"), span);
        assertEquals(List.of(3, 1, 0), List.of(filled.started(), filled.alreadyDone(), filled.rejected()));
        kit.register(TestSchedules.add(
                        Workflow.define("report", Integer.class, Integer.class), every(HOUR, CatchUpMode.LAST))
                .body((_, input) -> input));
        kit.settle();
        var longer = new ScheduleOperations.BackfillRange(
                now.minus(HOUR.multipliedBy(6)).plusSeconds(1), now.plusSeconds(1));
        ScheduleOperations.BackfillResult refused =
                TestRuntime.of(kit).schedules().backfill(ws(), row("report"), longer);
        assertEquals(List.of(0, 4, 2), List.of(refused.started(), refused.alreadyDone(), refused.rejected()));
        assertEquals(
                List.of(ScheduleTickOutcome.REJECTED, ScheduleTickOutcome.REJECTED),
                ticks("report").stream()
                        .limit(2)
                        .map(DatabaseRows.TickRow::state)
                        .toList());
    }

    @Test
    void a_long_backfill_that_crashes_half_way_has_recorded_its_finished_ticks() {
        kit.register(flow("report", every(Duration.ofMinutes(1), CatchUpMode.LAST)));
        kit.clock().advance(Duration.ofSeconds(1));
        DatabaseRows.ScheduleRow row = row("report");
        Instant now = kit.clock().now();
        var span = new ScheduleOperations.BackfillRange(now.minus(Duration.ofMinutes(120)), now);
        kit.crashAt("backfill-admitted", 2);
        assertThrows(Throwable.class, () -> TestRuntime.of(kit).schedules().backfill(ws(), row, span));
        kit.settle();
        assertEquals(50, ticks("report").size(), "the first slice");
        ScheduleOperations.BackfillResult again =
                TestRuntime.of(kit).schedules().backfill(ws(), row, span);
        assertEquals(List.of(20, 100, 0), List.of(again.started(), again.alreadyDone(), again.rejected()));
        assertEquals(120, ticks("report").size());
    }
}
