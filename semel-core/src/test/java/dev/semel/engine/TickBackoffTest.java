package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a schedule is looked at that cannot be fired here. */
final class TickBackoffTest {
    private static final long NOW = 1_000_000_000_000L;
    private static final StoredRows.ScheduleRow ONE = row("one", NOW - 5_000_000);

    private final TickBackoff patience = new TickBackoff();

    private static StoredRows.ScheduleRow row(String name, long nextAt) {
        return new StoredRows.ScheduleRow(1, "wf_1", name, "{}", false, nextAt, nextAt, null, 0, null, false);
    }

    private static long micros(long value, TimeUnit unit) {
        return unit.toMicros(value);
    }

    @Test
    void the_backoff_doubles_from_a_second_and_never_delays_the_next_tick() {
        long nanos = 7;
        for (long length = TickBackoff.FIRST_NANOS; length < TickBackoff.LONGEST_NANOS; length *= 2) {
            nanos = held(nanos, length);
        }
        nanos = held(nanos, TickBackoff.LONGEST_NANOS);
        held(nanos, TickBackoff.LONGEST_NANOS);
        assertTrue(TickBackoff.LONGEST_NANOS < dev.semel.schedule.TickDecision.ON_TIME.toNanos());
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
        assertEquals(TickBackoff.FIRST_NANOS, TickBackoff.nextLookNanos(NOW, ONE, null));
        assertEquals(
                TimeUnit.MILLISECONDS.toNanos(300),
                TickBackoff.nextLookNanos(NOW, ONE, row("two", NOW + micros(300, TimeUnit.MILLISECONDS))));
    }

    @Test
    void without_due_ticks_the_sleep_lasts_until_the_next_one_within_limits() {
        StoredRows.ScheduleRow far = row("far", NOW + micros(1, TimeUnit.HOURS));
        assertEquals(TickBackoff.LATEST_LOOK_NANOS, TickBackoff.nextLookNanos(NOW, far, far));
        assertEquals(TickBackoff.LATEST_LOOK_NANOS, TickBackoff.nextLookNanos(NOW, null, null));
        StoredRows.ScheduleRow never = row("never", StoreWrite.Suspension.NEVER);
        assertEquals(TickBackoff.LATEST_LOOK_NANOS, TickBackoff.nextLookNanos(NOW, never, never));
        StoredRows.ScheduleRow near = row("near", NOW + 1);
        assertEquals(TickBackoff.SOON_NANOS, TickBackoff.nextLookNanos(NOW, near, near));
    }
}
