package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.JavaWorkflow;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.schedule.CronRule;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.OverlapPolicy;
import dev.semel.schedule.TickOutcome;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
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

/** Schedules among deployments, edits and outages: what is stored counts, and every nominal time is told. */
final class ScheduleRepairTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private final WorkflowTestKit lab = new WorkflowTestKit();

    @AfterEach
    void close() {
        lab.close();
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
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private String idOf(String name) {
        StoredRows.WorkflowRow row = TestRuntime.of(lab).view(reads -> reads.workflow(ws(), name));
        assertNotNull(row);
        return row.workflowId();
    }

    private StoredRows.ScheduleRow row(String workflow) {
        StoredRows.ScheduleRow row = TestRuntime.of(lab).schedules().find(ws(), idOf(workflow), "often");
        assertNotNull(row);
        return row;
    }

    /** Oldest first. */
    private List<StoredRows.TickRow> ticks(String workflow) {
        return TestRuntime.of(lab)
                .schedules()
                .ticks(idOf(workflow), "often", Long.MAX_VALUE, 1_000)
                .reversed();
    }

    private static Instant nominal(StoredRows.TickRow tick) {
        Instant time = Schedules.instant(tick.nominal());
        assertNotNull(time);
        return time;
    }

    /** Another process publishes its version of a workflow. */
    private void publish(String name, String text) {
        TestRuntime.of(lab).change(new StoreCommand.PublishVersion(ws(), name, "wf_" + name, text, "another process"));
        lab.settle();
    }

    @Test
    void a_stored_schedule_is_the_one_that_was_written() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        JsonNode data = StrictJson.parse("{\"n\":9007199254740993,\"x\":1.50,\"list\":[null,\"ä\"]}");
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
            Schedule read = Schedule.parse(one.name(), StrictJson.parse(one.toJson()));
            assertEquals(one, read);
            assertEquals(one.toJson(), read.toJson());
            assertEquals(List.of(read), JavaWorkflow.schedulesOfVersion(JavaWorkflow.of(flow("f", one)).descriptor()));
        }
    }

    @Test
    void while_a_deployment_rolls_the_old_code_keeps_to_the_schedule_of_the_published_version() {
        lab.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        Schedule newer = every(Duration.ofMinutes(20), CatchUpMode.LAST);
        publish("report", JavaWorkflow.of(flow("report", newer)).descriptor());
        assertEquals(newer.toJson(), row("report").spec());
        lab.clock().advance(HOUR);
        assertEquals(3, ticks("report").size());
    }

    @Test
    void a_row_that_is_not_what_is_published_is_laid_out_again_when_it_is_due() {
        Schedule right = every(Duration.ofMinutes(20), CatchUpMode.LAST);
        lab.register(flow("report", right));
        lab.settle();
        StoredRows.ScheduleRow row = row("report");
        Schedule wrong = every(Duration.ofMinutes(50), CatchUpMode.LAST);
        TestRuntime.of(lab)
                .change(new StoreCommand.SaveSchedules(
                        ws(),
                        row.workflowId(),
                        1,
                        List.of(new StoreCommand.ScheduleUpdate("often", wrong.toJson(), row.nextNominal(), row.nextAt(), row))));
        lab.clock().advance(HOUR.multipliedBy(2));
        assertEquals(right.toJson(), row("report").spec());
        assertTrue(ticks("report").stream().filter(tick -> tick.state().ran()).count() >= 5);
    }

    @Test
    void an_edit_after_an_outage_tells_every_nominal_time_that_it_leaves_behind() {
        lab.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        lab.clock().advance(HOUR);
        publish("report", "{\"semel\":1,\"java\":\"report\"}"); // it cannot be read here, so that nobody fires it
        lab.clock().advance(HOUR.multipliedBy(5));
        assertEquals(1, ticks("report").size());
        publish(
                "report",
                JavaWorkflow.of(flow("report", every(Duration.ofMinutes(7), CatchUpMode.LAST))).descriptor());
        List<StoredRows.TickRow> ticks = ticks("report");
        assertEquals(6, ticks.size());
        for (int i = 1; i < ticks.size(); i++) {
            assertEquals(TickOutcome.SKIPPED, ticks.get(i).state());
            assertEquals("edited", ticks.get(i).reason());
            assertEquals(HOUR, Duration.between(nominal(ticks.get(i - 1)), nominal(ticks.get(i))));
        }
    }

    @Test
    void an_edit_that_finds_a_tick_taken_and_its_run_there_tells_the_run() {
        lab.register(flow("report", every(HOUR, CatchUpMode.NONE)));
        lab.crashAt("tick-admitted", 1);
        lab.clock().advance(HOUR);
        TestRuntime.of(lab)
                .change(new StoreCommand.PublishVersion(
                        ws(),
                        "report",
                        "wf_report",
                        JavaWorkflow.of(flow("report", every(Duration.ofMinutes(7), CatchUpMode.NONE))).descriptor(),
                        "x"));
        lab.settle();
        StoredRows.TickRow first = ticks("report").getFirst();
        assertEquals(TickOutcome.FIRED, first.state(), "its run is there, whatever the edit thinks of it");
        assertNotNull(first.run());
    }

    @Test
    void a_tick_whose_code_is_elsewhere_is_not_taken() {
        lab.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        publish("elsewhere", JavaWorkflow.of(flow("elsewhere", every(HOUR, CatchUpMode.NONE))).descriptor());
        StoredRows.ScheduleRow like = row("report");
        TestRuntime.of(lab)
                .change(new StoreCommand.SaveSchedules(
                        ws(),
                        idOf("elsewhere"),
                        1,
                        List.of(new StoreCommand.ScheduleUpdate("often", like.spec(), like.nextNominal(), like.nextAt(), null))));
        lab.clock().advance(HOUR);
        assertEquals(1, ticks("report").size(), "those beside it fire");
        assertNull(row("elsewhere").takenBy(), "taken here it would be late where it can be fired");
        assertEquals(like.nextNominal(), row("elsewhere").nextNominal());
        lab.register(flow("elsewhere", every(HOUR, CatchUpMode.NONE)));
        lab.settle();
        assertEquals(TickOutcome.FIRED, ticks("elsewhere").getFirst().state());
    }

    @Test
    void a_workflow_that_cannot_be_read_does_not_stop_the_schedules_beside_it() {
        lab.register(flow("broken", every(HOUR, CatchUpMode.LAST)), flow("report", every(HOUR, CatchUpMode.LAST)));
        publish("broken", "{\"semel\":1,\"java\":\"broken\"}");
        lab.clock().advance(HOUR.multipliedBy(3));
        assertEquals(3, ticks("report").size());
        assertEquals(List.of(), ticks("broken"));
        assertNull(row("broken").takenBy());
    }

    @Test
    void a_backfill_of_a_time_that_the_ledger_has_forgotten_is_refused() {
        lab.register(flow("report", every(HOUR, CatchUpMode.LAST)));
        lab.clock().advance(HOUR);
        Instant now = lab.clock().now();
        var old = new Schedules.BackfillRange(now.minus(Duration.ofDays(41)), now.minus(Duration.ofDays(39)));
        SemelException refused =
                assertThrows(SemelException.class, () -> TestRuntime.of(lab).schedules().backfill(ws(), row("report"), old));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertEquals(1, ticks("report").size(), "nothing was started");
    }

    @Test
    void a_backfill_says_of_each_tick_whether_it_was_started_was_there_or_is_refused() {
        lab.register(TestSchedules.add(Workflow.define("report", JsonNode.class, JsonNode.class), every(HOUR, CatchUpMode.LAST))
                .body((_, input) -> input));
        lab.clock().advance(HOUR);
        Instant now = lab.clock().now();
        var span = new Schedules.BackfillRange(now.minus(HOUR.multipliedBy(4)).plusSeconds(1), now.plusSeconds(1));
        Schedules.BackfillResult filled = TestRuntime.of(lab).schedules().backfill(ws(), row("report"), span);
        assertEquals(List.of(3, 1, 0), List.of(filled.started(), filled.alreadyDone(), filled.rejected()));
        lab.register(TestSchedules.add(Workflow.define("report", Integer.class, Integer.class), every(HOUR, CatchUpMode.LAST))
                .body((_, input) -> input));
        lab.settle();
        var longer = new Schedules.BackfillRange(now.minus(HOUR.multipliedBy(6)).plusSeconds(1), now.plusSeconds(1));
        Schedules.BackfillResult refused = TestRuntime.of(lab).schedules().backfill(ws(), row("report"), longer);
        assertEquals(List.of(0, 4, 2), List.of(refused.started(), refused.alreadyDone(), refused.rejected()));
        assertEquals(
                List.of(TickOutcome.REFUSED, TickOutcome.REFUSED),
                ticks("report").stream().limit(2).map(StoredRows.TickRow::state).toList());
    }

    @Test
    void a_long_backfill_that_dies_half_way_has_written_down_what_it_did_before() {
        lab.register(flow("report", every(Duration.ofMinutes(1), CatchUpMode.LAST)));
        lab.clock().advance(Duration.ofSeconds(1));
        StoredRows.ScheduleRow row = row("report");
        Instant now = lab.clock().now();
        var span = new Schedules.BackfillRange(now.minus(Duration.ofMinutes(120)), now);
        lab.crashAt("backfill-admitted", 2);
        assertThrows(Throwable.class, () -> TestRuntime.of(lab).schedules().backfill(ws(), row, span));
        lab.settle();
        assertEquals(50, ticks("report").size(), "the first slice");
        Schedules.BackfillResult again = TestRuntime.of(lab).schedules().backfill(ws(), row, span);
        assertEquals(List.of(20, 100, 0), List.of(again.started(), again.alreadyDone(), again.rejected()));
        assertEquals(120, ticks("report").size());
    }
}
