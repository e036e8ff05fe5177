package dev.semel.server.auth;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How often a password may be guessed, and whom that keeps out. */
class AttemptsTest {
    private final AtomicLong clock = new AtomicLong();
    private final Attempts attempts = new Attempts(clock::get);

    private void guess(String name, String address, int times) {
        for (int i = 0; i < times; i++) {
            attempts.check(name, address);
            attempts.failed(name, address);
        }
    }

    private void refused(String name, String address) {
        assertThrows(SemelException.class, () -> attempts.check(name, address));
    }

    private void looked(String name, String address) {
        assertDoesNotThrow(() -> attempts.check(name, address));
    }

    @Test
    void ten_for_one_name_from_one_address_and_five_minutes_later_again() {
        guess("ada", "10.0.0.1", 10);
        refused("ada", "10.0.0.1");
        refused("ADA", "10.0.0.1");
        looked("ada", "10.0.0.2");
        looked("eve", "10.0.0.1");
        clock.addAndGet(TimeUnit.MINUTES.toNanos(5));
        looked("ada", "10.0.0.1");
    }

    @Test
    void a_hundred_from_one_address_whatever_the_names() {
        for (int i = 0; i < 100; i++) {
            guess("name" + i, "10.0.0.1", 1);
        }
        refused("ada", "10.0.0.1");
        looked("ada", "10.0.0.2");
    }

    @Test
    void many_addresses_do_not_help_and_do_not_keep_the_owner_out() {
        attempts.succeeded("ada", "192.0.2.7");
        for (int i = 0; i < 5; i++) {
            guess("ada", "10.0.0." + i, 10);
        }
        refused("ada", "10.0.1.1");
        looked("ada", "192.0.2.7");
    }

    @Test
    void where_the_owner_logged_in_guesses_are_counted_as_everywhere() {
        attempts.succeeded("ada", "192.0.2.7");
        guess("ada", "192.0.2.7", 10);
        refused("ada", "192.0.2.7");
    }
}
