package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a schedule is looked at that cannot be fired here. */
final class TickPatienceTest {
    private static final long NOW = 1_000_000_000_000L;
    private static final Rows.Schedule ONE = row("one", NOW - 5_000_000);

    private final TickPatience patience = new TickPatience();

    private static Rows.Schedule row(String name, long nextAt) {
        return new Rows.Schedule(1, "wf_1", name, "{}", false, nextAt, nextAt, null, 0, null, false);
    }

    private static long micros(long value, TimeUnit unit) {
        return unit.toMicros(value);
    }

    @Test
    void it_is_held_for_a_second_and_then_twice_as_long_each_time_but_never_until_a_tick_is_late() {
        long nanos = 7;
        for (long length = TickPatience.FIRST_NANOS; length < TickPatience.LONGEST_NANOS; length *= 2) {
            nanos = held(nanos, length);
        }
        nanos = held(nanos, TickPatience.LONGEST_NANOS);
        held(nanos, TickPatience.LONGEST_NANOS);
        assertTrue(TickPatience.LONGEST_NANOS < dev.semel.schedule.Tick.ON_TIME.toNanos());
    }

    private long held(long nanos, long length) {
        patience.hold(ONE, 3, nanos);
        assertTrue(patience.holds(ONE, 3, nanos + length - 1));
        assertFalse(patience.holds(ONE, 3, nanos + length));
        assertFalse(patience.holds(row("two", NOW), 3, nanos), "the one beside it is not touched");
        return nanos + length;
    }

    @Test
    void a_change_of_the_catalog_or_of_its_row_ends_the_wait() {
        patience.hold(ONE, 3, 0);
        assertFalse(patience.holds(ONE, 4, 1));
        patience.forget("wf_1");
        assertFalse(patience.holds(ONE, 3, 1));
        patience.hold(ONE, 3, 0);
        patience.forget(ONE);
        assertFalse(patience.holds(ONE, 3, 1));
    }

    @Test
    void one_that_is_due_and_cannot_be_fired_is_looked_at_once_a_second_and_delays_none_that_comes_next() {
        assertEquals(TickPatience.FIRST_NANOS, TickPatience.rest(NOW, ONE, null));
        assertEquals(
                TimeUnit.MILLISECONDS.toNanos(300),
                TickPatience.rest(NOW, ONE, row("two", NOW + micros(300, TimeUnit.MILLISECONDS))));
    }

    @Test
    void where_none_is_due_the_rest_lasts_until_the_next_one_within_bounds() {
        Rows.Schedule far = row("far", NOW + micros(1, TimeUnit.HOURS));
        assertEquals(TickPatience.LATEST_LOOK_NANOS, TickPatience.rest(NOW, far, far));
        assertEquals(TickPatience.LATEST_LOOK_NANOS, TickPatience.rest(NOW, null, null));
        Rows.Schedule never = row("never", Write.Rest.NEVER);
        assertEquals(TickPatience.LATEST_LOOK_NANOS, TickPatience.rest(NOW, never, never));
        Rows.Schedule near = row("near", NOW + 1);
        assertEquals(TickPatience.SOON_NANOS, TickPatience.rest(NOW, near, near));
    }
}
