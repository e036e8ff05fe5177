package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jumps of the machine's clock, with all three clocks by hand. */
final class TrustedClockTest {
    private static final long START = StoreFixture.START;
    private static final long MINUTE = 60_000_000;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    private long machine = START;
    private long boot = 5 * HOUR;
    private long nanos = 77;
    private String bootId = "boot 1";
    private TrustedClock clock = open();

    private TrustedClock open() {
        return new TrustedClock(() -> machine, () -> nanos, new TrustedClock.BootClock(bootId, () -> boot));
    }

    /** Time passes while the machine runs. */
    private void pass(long micros) {
        machine += micros;
        boot += micros;
        nanos += micros * 1_000;
    }

    /** The process starts again and reads what it stored. */
    private void restart(TrustedClock.StoredTime stored) {
        clock = open();
        clock.continueFrom(stored);
    }

    private TrustedClock.StoredTime stored() {
        return Objects.requireNonNull(clock.toStore());
    }

    @Test
    void without_a_jump_it_is_the_clock_of_the_machine() {
        for (int i = 0; i < 100; i++) {
            pass(HOUR / 7);
            machine += i % 3 - 1; // a time server corrects it
            assertEquals(machine, clock.getAsLong());
            assertEquals(machine, clock.windowTime());
        }
        assertNull(clock.jump());
    }

    @Test
    void a_suspended_machine_is_no_jump() {
        machine += 8 * HOUR;
        boot += 8 * HOUR; // the monotonic clock stands still meanwhile
        assertEquals(machine, clock.getAsLong());
        assertNull(clock.jump());
        pass(1);
        assertEquals(machine, clock.getAsLong());
    }

    @ParameterizedTest
    @CsvSource({"100", "-100", "1", "-1"})
    void a_passing_error_does_not_move_it(long days) {
        pass(MINUTE);
        machine += days * DAY;
        long expected = START + MINUTE;
        assertEquals(expected, clock.getAsLong());
        pass(28_000_000);
        expected += 28_000_000;
        assertEquals(expected, clock.getAsLong());
        assertEquals(START + MINUTE, clock.windowTime(), "no window ends during a jump");
        assertEquals(days < 0, Objects.requireNonNull(clock.jump()).text().contains("behind"));
        machine -= days * DAY;
        assertEquals(expected, clock.getAsLong());
        assertNotNull(clock.jump(), "the clock jumped again");
        pass(HOUR);
        assertEquals(machine, clock.getAsLong());
        assertNull(clock.jump());
    }

    @Test
    void a_clock_that_runs_too_fast_jumps_as_well() {
        long passed = 0;
        while (clock.jump() == null && passed < HOUR) {
            pass(1_000_000);
            machine += 100_000; // ten percent
            passed += 1_000_000;
        }
        assertNotNull(clock.jump());
        assertTrue(clock.getAsLong() <= START + passed + MINUTE, "it never was ahead by much more than a minute");
        pass(2 * MINUTE);
        long before = clock.getAsLong();
        machine += DAY;
        assertEquals(before, clock.getAsLong());
    }

    @Test
    void an_hour_of_agreement_confirms_the_new_time() {
        machine += 100 * DAY;
        assertEquals(START, clock.getAsLong());
        pass(HOUR / 2);
        assertEquals(START + HOUR / 2, clock.getAsLong());
        assertEquals(START + HOUR, Objects.requireNonNull(clock.jump()).trustedAt());
        machine += DAY;
        assertEquals(START + HOUR / 2, clock.getAsLong(), "another jump begins another hour");
        pass(HOUR - 1);
        assertEquals(START + HOUR / 2 + HOUR - 1, clock.getAsLong());
        pass(1);
        assertEquals(machine, clock.getAsLong());
        assertEquals(machine, clock.windowTime());
        assertNull(clock.jump());
    }

    @Test
    void an_operator_confirms_the_new_time() {
        machine -= 100 * DAY;
        assertEquals(START, clock.getAsLong());
        clock.confirm();
        assertNull(clock.jump());
        assertEquals(machine, clock.getAsLong());
        pass(HOUR);
        assertEquals(machine, clock.getAsLong());
    }

    @Test
    void a_jump_while_the_process_does_not_run_is_found_at_its_start() {
        TrustedClock.StoredTime before = stored();
        pass(2 * DAY);
        restart(before);
        assertNull(clock.jump(), "the clock since boot shows how long it did not run");
        before = stored();
        pass(HOUR);
        machine += DAY / 2;
        restart(before);
        assertNotNull(clock.jump());
        assertEquals(START + 2 * DAY + HOUR, clock.getAsLong());
        before = stored();
        pass(MINUTE);
        restart(before);
        assertNotNull(clock.jump(), "a restart confirms nothing");
        assertEquals(START + 2 * DAY + HOUR + MINUTE, clock.getAsLong());
    }

    @ParameterizedTest
    @CsvSource({"0, yes", "23, yes", "25, no", "-1, no", "2400, no"})
    void after_a_reboot_the_time_off_is_limited(long hours, String plausible) {
        TrustedClock.StoredTime before = stored();
        bootId = "boot 2";
        boot = 20_000_000;
        machine += hours * HOUR;
        restart(before);
        assertEquals(plausible.equals("yes"), clock.jump() == null);
        assertEquals(plausible.equals("yes") ? machine : START, clock.getAsLong());
        pass(HOUR);
        assertEquals(machine, clock.getAsLong());
    }

    @Test
    void without_a_clock_since_boot_nothing_is_checked() {
        TrustedClock unchecked = TrustedClock.unchecked(() -> machine);
        machine += Duration.ofDays(100).toNanos() / 1_000;
        assertEquals(machine, unchecked.getAsLong());
        assertEquals(machine, unchecked.windowTime());
        assertNull(unchecked.jump());
        assertNull(unchecked.toStore());
    }
}
