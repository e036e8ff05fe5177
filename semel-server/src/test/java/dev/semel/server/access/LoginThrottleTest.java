package dev.semel.server.access;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How often a password may be guessed, and whom that keeps waiting. */
class LoginThrottleTest {
    private final AtomicLong clock = new AtomicLong();
    private final LoginThrottle attempts = new LoginThrottle(clock::get);

    private void guess(String name, String address, int times) {
        for (int i = 0; i < times; i++) {
            attempts.admit(new LoginThrottle.LoginAttempt(name, address));
        }
    }

    private long refused(LoginThrottle.LoginAttempt one) {
        SemelException refusal = assertThrows(SemelException.class, () -> attempts.admit(one));
        return (Long) Objects.requireNonNull(refusal.members().get("retry_after"));
    }

    private long refused(String name, String address) {
        return refused(new LoginThrottle.LoginAttempt(name, address));
    }

    /** Looked at, and right. */
    private void looked(LoginThrottle.LoginAttempt one) {
        assertDoesNotThrow(() -> attempts.admit(one));
        attempts.recordSuccess(one);
    }

    private void looked(String name, String address) {
        looked(new LoginThrottle.LoginAttempt(name, address));
    }

    private void pass(long seconds) {
        clock.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void ten_attempts_per_name_and_address_then_one_per_30_seconds() {
        guess("ada", "10.0.0.1", 10);
        assertEquals(30, refused("ada", "10.0.0.1"));
        assertEquals(30, refused("ADA", "10.0.0.1"));
        looked("ada", "10.0.0.2");
        looked("eve", "10.0.0.1");
        pass(29);
        assertEquals(1, refused("ada", "10.0.0.1"));
        pass(1);
        guess("ada", "10.0.0.1", 1);
        assertEquals(30, refused("ada", "10.0.0.1"));
        pass(30);
        looked("ada", "10.0.0.1");
        guess("ada", "10.0.0.1", 10);
    }

    @Test
    void a_rejected_attempt_extends_nothing_and_five_quiet_minutes_reset() {
        guess("ada", "10.0.0.1", 10);
        pass(20);
        assertEquals(10, refused("ada", "10.0.0.1"));
        pass(280);
        guess("ada", "10.0.0.1", 10);
        refused("ada", "10.0.0.1");
    }

    @Test
    void a_hundred_attempts_per_address_and_no_other_address_is_delayed() {
        for (int i = 0; i < 100; i++) {
            guess("name" + i, "10.0.0.1", 1);
        }
        assertEquals(3, refused("ada", "10.0.0.1"));
        looked("ada", "10.0.0.2");
        pass(3);
        looked("ada", "10.0.0.1");
    }

    @Test
    void many_addresses_do_not_help_and_do_not_lock_the_owner_out() {
        looked("ada", "192.0.2.7");
        for (int i = 0; i < 5; i++) {
            guess("ada", "10.0.0." + i, 10);
        }
        assertEquals(10, refused("ada", "10.0.1.1"));
        looked("ada", "192.0.2.7");
        pass(10);
        looked("ada", "10.0.1.1");
    }

    @Test
    void attempts_from_the_owners_address_are_counted_too() {
        looked("ada", "192.0.2.7");
        guess("ada", "192.0.2.7", 10);
        refused("ada", "192.0.2.7");
    }

    @Test
    void a_known_browser_is_delayed_only_by_its_own_failures() {
        guess("ada", "10.0.0.1", 10);
        for (int i = 0; i < 90; i++) {
            guess("name" + i, "10.0.0.1", 1);
        }
        var loginAttempt = new LoginThrottle.LoginAttempt("ada", "10.0.0.1", "mark");
        looked(loginAttempt);
        for (int i = 0; i < 10; i++) {
            attempts.admit(loginAttempt);
        }
        assertEquals(30, refused(loginAttempt), "whoever stole the mark has no more than that");
        looked(new LoginThrottle.LoginAttempt("ada", "10.0.0.1", "other"));
    }

    @Test
    void concurrent_attempts_are_counted_before_any_has_failed() {
        for (int i = 0; i < 10; i++) {
            attempts.admit(new LoginThrottle.LoginAttempt("ada", "10.0.0.1"));
        }
        refused("ada", "10.0.0.1");
    }

    @Test
    void successful_logins_use_up_no_attempts() {
        for (int i = 0; i < 300; i++) {
            looked("ada", "10.0.0.1");
        }
    }

    @Test
    void an_ipv6_network_is_one_address() {
        for (int i = 0; i < 10; i++) {
            guess("ada", "2001:db8:0:1::" + i, 1);
        }
        refused("ada", "2001:db8:0:1:ffff::9");
        looked("ada", "2001:db8:0:2::9");
    }
}
