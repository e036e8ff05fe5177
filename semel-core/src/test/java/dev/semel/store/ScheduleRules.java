package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.schedule.ScheduleTickOutcome;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Schedules: rows that follow what is published, ticks that one worker sees to, and what became of them. */
interface ScheduleRules {
    long LASTS = 15_000_000;

    TestStoreClient client();

    private long at(int seconds) {
        return StoreFixture.START + seconds * 1_000_000L;
    }

    private boolean lay(StoreWriteCommand.ScheduleUpdate... schedules) {
        return client().change(new StoreWriteCommand.SaveSchedules(
                client().ws, TestStoreClient.WORKFLOW, 1, List.of(schedules), List.of()));
    }

    private DatabaseRows.ScheduleRow row(String name) {
        DatabaseRows.ScheduleRow row = client().reads.schedules().schedule(client().ws, TestStoreClient.WORKFLOW, name);
        assertNotNull(row);
        return row;
    }

    private static StoreWriteCommand.ScheduleUpdate laid(String name, String spec, long next) {
        return new StoreWriteCommand.ScheduleUpdate(name, spec, next, next, null);
    }

    private static DatabaseRows.TickRow tick(long nominal, ScheduleTickOutcome state, @Nullable RunId run) {
        return new DatabaseRows.TickRow(
                TestStoreClient.WORKFLOW, "a", nominal, state, state.ran() ? "" : "overlap", run, nominal, 0);
    }

    private List<DatabaseRows.ScheduleRow> due() {
        return client().reads.schedules().due(client().fixture.time(), 100);
    }

    private List<DatabaseRows.ScheduleRow> take(RunId by) {
        return client().change(new StoreWriteCommand.ClaimTicks(due(), by, LASTS));
    }

    private int settle(RunId by, long from, long next, DatabaseRows.TickRow... ticks) {
        RunId last = null;
        for (DatabaseRows.TickRow tick : ticks) {
            last = tick.state().ran() ? tick.run() : last;
        }
        return client().change(new StoreWriteCommand.RecordTicks(
                by,
                List.of(new StoreWriteCommand.ScheduleProgress(
                        TestStoreClient.WORKFLOW, "a", from, next, next, last, List.of(ticks)))));
    }

    private List<DatabaseRows.TickRow> ticks() {
        return client().reads.schedules().ticks(TestStoreClient.WORKFLOW, "a", Long.MAX_VALUE, 100);
    }

    @Test
    default void schedules_are_saved_for_the_current_version_only() {
        assertFalse(client().change(new StoreWriteCommand.SaveSchedules(
                client().ws, TestStoreClient.WORKFLOW, 2, List.of(laid("a", "one", at(5))), List.of())));
        assertFalse(client().change(new StoreWriteCommand.SaveSchedules(
                client().ws + 1, TestStoreClient.WORKFLOW, 1, List.of(laid("a", "one", at(5))), List.of())));
        assertNull(client().reads.schedules().firstDue());
        assertTrue(lay(laid("b", "two", at(3)), laid("a", "one", at(5))));
        assertEquals("b", assertThere(client().reads.schedules().firstDue()).name());
        assertEquals(
                List.of("a", "b"),
                client().reads.schedules().ofWorkflow(TestStoreClient.WORKFLOW).stream()
                        .map(DatabaseRows.ScheduleRow::name)
                        .toList());
        assertEquals(
                List.of("b"),
                client().reads.schedules().page(client().ws, TestStoreClient.WORKFLOW, "a", 10).stream()
                        .map(DatabaseRows.ScheduleRow::name)
                        .toList());
        assertTrue(client().reads.schedules().page(client().ws + 1, "", "", 10).isEmpty(), "another workspace");
        assertNull(client().reads.schedules().schedule(client().ws + 1, TestStoreClient.WORKFLOW, "a"));
        assertEquals(
                List.of(new ScheduleQueries.CurrentVersion(client().ws, TestStoreClient.WORKFLOW, 1)),
                client().reads.schedules().currentVersions("", 10));
    }

    private static DatabaseRows.ScheduleRow assertThere(DatabaseRows.@Nullable ScheduleRow row) {
        assertNotNull(row);
        return row;
    }

    @Test
    default void an_unchanged_schedule_saved_again_keeps_its_progress() {
        lay(laid("a", "one", at(5)));
        assertTrue(lay(laid("a", "one", at(9))));
        assertEquals(at(5), row("a").nextNominal());
    }

    @Test
    default void an_edit_applies_only_to_the_row_that_was_read_and_once() {
        lay(laid("a", "one", at(5)));
        DatabaseRows.ScheduleRow before = row("a");
        StoreWriteCommand.ScheduleUpdate edit = new StoreWriteCommand.ScheduleUpdate("a", "two", at(7), at(8), before);
        assertTrue(lay(edit));
        assertTrue(lay(edit), "after a lost answer");
        assertEquals(at(7), row("a").nextNominal());
        assertEquals(at(8), row("a").nextAt());
        assertFalse(
                lay(new StoreWriteCommand.ScheduleUpdate("a", "three", at(9), at(9), before)),
                "it is not what was read");
        assertEquals("two", row("a").spec());
    }

    @Test
    default void a_due_tick_of_a_removed_schedule_is_recorded() {
        lay(laid("a", "one", at(5)));
        client().fixture.advance(Duration.ofSeconds(4));
        assertTrue(lay());
        assertTrue(ticks().isEmpty(), "its time had not come");
        lay(laid("a", "one", at(5)));
        client().fixture.advance(Duration.ofSeconds(1));
        assertTrue(lay());
        assertEquals(
                List.of(new DatabaseRows.TickRow(
                        TestStoreClient.WORKFLOW, "a", at(5), ScheduleTickOutcome.SKIPPED, "edited", null, at(5), 0)),
                ticks());
        assertNull(client().reads.schedules().firstDue());
    }

    @Test
    default void a_schedule_removed_after_an_outage_records_all_its_due_ticks() {
        lay(laid("a", "one", at(5)), laid("b", "one", at(5)));
        client().fixture.advance(Duration.ofSeconds(65));
        assertTrue(lay(new StoreWriteCommand.ScheduleUpdate("b", "two", at(70), at(70), row("b"))));
        assertEquals(
                List.of(new DatabaseRows.TickRow(
                        TestStoreClient.WORKFLOW,
                        "a",
                        at(5),
                        ScheduleTickOutcome.SKIPPED,
                        "edited",
                        null,
                        at(65),
                        at(65))),
                ticks());
        assertEquals(
                List.of(new DatabaseRows.TickRow(
                        TestStoreClient.WORKFLOW,
                        "b",
                        at(5),
                        ScheduleTickOutcome.SKIPPED,
                        "edited",
                        null,
                        at(65),
                        at(65))),
                client().reads.schedules().ticks(TestStoreClient.WORKFLOW, "b", Long.MAX_VALUE, 100));
    }

    @Test
    default void results_for_abandoned_ticks_are_recorded_while_the_row_is_unchanged() {
        lay(laid("a", "one", at(0)));
        RunId run = client().id();
        List<DatabaseRows.TickRow> found =
                List.of(tick(at(0), ScheduleTickOutcome.FIRED, run), tick(at(1), ScheduleTickOutcome.SKIPPED, null));
        StoreWriteCommand.AbandonedTicks elsewhere = new StoreWriteCommand.AbandonedTicks(
                "a", at(3), List.of(tick(at(3), ScheduleTickOutcome.SKIPPED, null)));
        StoreWriteCommand.AbandonedTicks left = new StoreWriteCommand.AbandonedTicks("a", at(0), found);
        var edit = new StoreWriteCommand.SaveSchedules(
                client().ws, TestStoreClient.WORKFLOW, 1, List.of(), List.of(elsewhere, left));
        assertTrue(client().change(edit));
        assertTrue(client().change(edit), "after a lost answer");
        assertEquals(found.reversed(), ticks());
    }

    @Test
    default void an_edit_that_keeps_the_times_keeps_the_tick_claim() {
        lay(laid("a", "one", at(0)));
        RunId first = client().id();
        take(first);
        assertTrue(lay(new StoreWriteCommand.ScheduleUpdate("a", "two", at(0), at(0), row("a"))));
        assertEquals(first, row("a").takenBy(), "it may have started the run");
        assertEquals(
                0,
                settle(first, at(0), at(60), tick(at(0), ScheduleTickOutcome.SKIPPED, null)),
                "by a text that is over");
        assertTrue(ticks().isEmpty());
        RunId second = client().id();
        assertEquals(first, take(second).getFirst().takenBy(), "it is free at once, and who had it is notified");
        RunId run = client().id();
        assertEquals(1, settle(second, at(0), at(60), tick(at(0), ScheduleTickOutcome.FIRED, run)));
        assertEquals(List.of(tick(at(0), ScheduleTickOutcome.FIRED, run)), ticks());
    }

    @Test
    default void the_next_tick_is_found_after_the_due_ones() {
        assertNull(client().reads.schedules().firstDueAfter(0));
        lay(laid("a", "one", at(3)), laid("b", "one", at(5)), laid("c", "one", at(9)));
        assertEquals(
                "b",
                assertThere(client().reads.schedules().firstDueAfter(at(3))).name(),
                "not the one that is due right then");
        assertNull(client().reads.schedules().firstDueAfter(at(9)));
    }

    @Test
    default void a_due_tick_is_claimed_by_one_worker_for_a_while() {
        lay(laid("a", "one", at(5)), laid("b", "two", at(6)));
        assertTrue(due().isEmpty());
        client().fixture.advance(Duration.ofSeconds(5));
        List<DatabaseRows.ScheduleRow> scheduleRows = due();
        RunId first = client().id();
        assertEquals(
                1,
                client().change(new StoreWriteCommand.ClaimTicks(scheduleRows, first, LASTS))
                        .size());
        assertEquals(
                1,
                client().change(new StoreWriteCommand.ClaimTicks(scheduleRows, first, LASTS))
                        .size(),
                "the same request again");
        assertTrue(client().change(new StoreWriteCommand.ClaimTicks(scheduleRows, client().id(), LASTS))
                .isEmpty());
        assertTrue(due().isEmpty());
        client().fixture.advance(Duration.ofSeconds(15));
        RunId second = client().id();
        assertEquals(2, take(second).size());
        assertEquals(second, row("a").takenBy());
    }

    @Test
    default void a_tick_outcome_is_stored_with_the_next_time_once() {
        lay(laid("a", "one", at(0)));
        RunId by = client().id();
        take(by);
        RunId run = client().id();
        assertEquals(1, settle(by, at(0), at(60), tick(at(0), ScheduleTickOutcome.FIRED, run)));
        assertEquals(0, settle(by, at(0), at(60), tick(at(0), ScheduleTickOutcome.FIRED, run)), "after a lost answer");
        assertEquals(List.of(tick(at(0), ScheduleTickOutcome.FIRED, run)), ticks());
        assertEquals(at(60), row("a").nextNominal());
        assertEquals(run, row("a").lastRun());
        assertNull(row("a").takenBy());
    }

    @Test
    default void a_late_worker_records_runs_and_nothing_else() {
        lay(laid("a", "one", at(0)));
        RunId late = client().id();
        take(late);
        client().fixture.advance(Duration.ofSeconds(16));
        RunId by = client().id();
        take(by);
        settle(late, at(0), at(60), tick(at(0), ScheduleTickOutcome.SKIPPED, null));
        assertTrue(ticks().isEmpty());
        settle(by, at(0), at(60), tick(at(0), ScheduleTickOutcome.SKIPPED, null));
        RunId run = client().id();
        assertEquals(0, settle(late, at(0), at(99), tick(at(0), ScheduleTickOutcome.FIRED, run)));
        assertEquals(
                List.of(tick(at(0), ScheduleTickOutcome.FIRED, run)), ticks(), "there is a run, so it was not skipped");
        assertEquals(at(60), row("a").nextNominal());
        assertEquals(
                0,
                client().change(new StoreWriteCommand.RecordBackfill(
                        List.of(tick(at(0), ScheduleTickOutcome.BACKFILLED, client().id())))));
        assertEquals(
                1,
                client().change(new StoreWriteCommand.RecordBackfill(
                        List.of(tick(at(1), ScheduleTickOutcome.BACKFILLED, client().id())))));
        assertEquals(run, ticks().getLast().run());
    }

    /** A change that does nothing answers with a stand-in for null. */
    private Object refused(StoreWriteCommand<?> edit) {
        return client().applyAll(new StoreWrite.ExecuteCommand<>(edit)).getFirst();
    }

    @Test
    default void a_schedule_is_paused_once_and_only_in_its_workspace() {
        lay(laid("a", "one", at(0)));
        StoreWriteCommand.ChangeAuthor by = client().by("tester", "");
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.PauseSchedule(client().ws + 1, TestStoreClient.WORKFLOW, "a", true, by)));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                refused(new StoreWriteCommand.PauseSchedule(client().ws, TestStoreClient.WORKFLOW, "none", true, by)));
        assertTrue(assertThere(client().change(new StoreWriteCommand.PauseSchedule(
                        client().ws, TestStoreClient.WORKFLOW, "a", true, by)))
                .paused());
        assertTrue(assertThere(client().change(new StoreWriteCommand.PauseSchedule(
                        client().ws, TestStoreClient.WORKFLOW, "a", true, by)))
                .paused());
        assertEquals(1, client().reads.audit(client().ws, null, 10).size());
        assertFalse(assertThere(client().change(new StoreWriteCommand.PauseSchedule(
                        client().ws, TestStoreClient.WORKFLOW, "a", false, client().by("tester", ""))))
                .paused());
    }

    @Test
    default void old_ticks_are_deleted_oldest_first() {
        for (int i = 0; i < 5; i++) {
            client().change(new StoreWriteCommand.RecordBackfill(
                    List.of(tick(at(i), ScheduleTickOutcome.SKIPPED, null))));
        }
        assertEquals(2, client().change(new StoreWriteCommand.DeleteOldTicks(at(4), 2)));
        assertTrue(client().reads.schedules().hasTicksBefore(at(4)));
        assertEquals(2, client().change(new StoreWriteCommand.DeleteOldTicks(at(4), 100)));
        assertFalse(client().reads.schedules().hasTicksBefore(at(4)));
        assertEquals(List.of(tick(at(4), ScheduleTickOutcome.SKIPPED, null)), ticks());
    }
}
