package dev.semel.server.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.testing.Lab;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long somebody stays logged in. */
final class SessionLengthTest {
    private final Lab lab = new Lab();
    private final Sessions sessions = new Sessions(lab.semel());
    private final Sessions.Owner ada =
            new Sessions.Owner(lab.semel().backstage().workspace(), "ada");

    @AfterEach
    void close() {
        lab.close();
    }

    @Test
    void a_session_that_is_not_used_ends_after_twelve_hours() {
        String secret = sessions.begin(ada, "");
        lab.clock().advance(Duration.ofHours(11));
        assertTrue(sessions.good(ada, secret));
        lab.clock().advance(Duration.ofHours(1));
        assertFalse(sessions.good(ada, secret), "looking at it is no use of it");
    }

    @Test
    void use_keeps_a_session_for_a_week_and_no_longer() {
        String secret = sessions.begin(ada, "");
        long begun = sessions.list(ada).getFirst().begunAt();
        int hours = 0;
        while (sessions.good(ada, secret) && hours < 1_000) {
            sessions.used(ada, secret);
            lab.clock().advance(Duration.ofHours(1));
            hours++;
        }
        assertEquals(7 * 24, hours);
        String other = sessions.begin(ada, "");
        assertTrue(sessions.good(ada, other));
        assertTrue(sessions.list(ada).getFirst().begunAt() > begun);
    }

    @Test
    void somebody_for_whom_a_provider_vouched_is_asked_for_again_after_twelve_hours_however_busy() {
        People people = People.serving(lab.semel());
        Vouched eve = Vouched.of("https://login.example.com", "4711", "eve", Role.OPERATOR);
        String cookie = people.enter("default", eve, "");
        for (int hour = 0; hour < 11; hour++) {
            lab.clock().advance(Duration.ofHours(1));
            people.used(cookie);
        }
        assertNotNull(people.visitor(cookie));
        lab.clock().advance(Duration.ofHours(1));
        assertNull(people.visitor(cookie), "what the provider says now is not known");
    }

    @Test
    void a_session_that_was_ended_does_not_come_back_by_being_used() {
        String secret = sessions.begin(ada, "");
        lab.clock().advance(Duration.ofHours(2));
        sessions.end(ada, secret);
        sessions.used(ada, secret);
        assertFalse(sessions.good(ada, secret));
    }
}
