package dev.semel.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a schedule is looked at that cannot be fired here. */
final class ScheduleTickBackoffTest {
    private static final long NOW = 1_000_000_000_000L;
    private static final DatabaseRows.ScheduleRow ONE = row("one", NOW - 5_000_000);

    private final ScheduleTickBackoff patience = new ScheduleTickBackoff();

    private static DatabaseRows.ScheduleRow row(String name, long nextAt) {
        return new DatabaseRows.ScheduleRow(1, "wf_1", name, "{}", false, nextAt, nextAt, null, 0, null, false);
    }

    private static long micros(long value, TimeUnit unit) {
        return unit.toMicros(value);
    }

    @Test
    void the_backoff_doubles_from_a_second_and_never_delays_the_next_tick() {
        long nanos = 7;
        for (long length = ScheduleTickBackoff.FIRST_NANOS; length < ScheduleTickBackoff.LONGEST_NANOS; length *= 2) {
            nanos = held(nanos, length);
        }
        nanos = held(nanos, ScheduleTickBackoff.LONGEST_NANOS);
        held(nanos, ScheduleTickBackoff.LONGEST_NANOS);
        assertTrue(ScheduleTickBackoff.LONGEST_NANOS < dev.semel.schedule.ScheduleTickDecision.ON_TIME.toNanos());
    }

    private long held(long nanos, long length) {
        patience.backOff(ONE, 3, nanos);
        assertTrue(patience.isBackedOff(ONE, 3, nanos + length - 1));
        assertFalse(patience.isBackedOff(ONE, 3, nanos + length));
        assertFalse(patience.isBackedOff(row("two", NOW), 3, nanos), "the one beside it is not touched");
        return nanos + length;
    }

    @Test
    void a_change_of_the_catalog_or_schedule_row_ends_the_backoff() {
        patience.backOff(ONE, 3, 0);
        assertFalse(patience.isBackedOff(ONE, 4, 1));
        patience.clear("wf_1");
        assertFalse(patience.isBackedOff(ONE, 3, 1));
        patience.backOff(ONE, 3, 0);
        patience.clear(ONE);
        assertFalse(patience.isBackedOff(ONE, 3, 1));
    }

    @Test
    void a_due_tick_that_cannot_fire_is_retried_each_second_without_delaying_others() {
        assertEquals(ScheduleTickBackoff.FIRST_NANOS, ScheduleTickBackoff.nextLookNanos(NOW, ONE, null));
        assertEquals(
                TimeUnit.MILLISECONDS.toNanos(300),
                ScheduleTickBackoff.nextLookNanos(NOW, ONE, row("two", NOW + micros(300, TimeUnit.MILLISECONDS))));
    }

    @Test
    void without_due_ticks_the_sleep_lasts_until_the_next_one_within_limits() {
        DatabaseRows.ScheduleRow far = row("far", NOW + micros(1, TimeUnit.HOURS));
        assertEquals(ScheduleTickBackoff.LATEST_LOOK_NANOS, ScheduleTickBackoff.nextLookNanos(NOW, far, far));
        assertEquals(ScheduleTickBackoff.LATEST_LOOK_NANOS, ScheduleTickBackoff.nextLookNanos(NOW, null, null));
        DatabaseRows.ScheduleRow never = row("never", StoreWrite.Suspension.NEVER);
        assertEquals(ScheduleTickBackoff.LATEST_LOOK_NANOS, ScheduleTickBackoff.nextLookNanos(NOW, never, never));
        DatabaseRows.ScheduleRow near = row("near", NOW + 1);
        assertEquals(ScheduleTickBackoff.SOON_NANOS, ScheduleTickBackoff.nextLookNanos(NOW, near, near));
    }
}
