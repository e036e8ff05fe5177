package dev.semel.server.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.SemelRuntime;
import dev.semel.testing.WorkflowTestKit;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long somebody stays logged in. */
final class SessionLengthTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final LoginSessions sessions = new LoginSessions(SemelRuntime.of(lab.semel()));
    private final LoginSessions.Owner ada =
            new LoginSessions.Owner(SemelRuntime.of(lab.semel()).testAccess().workspace(), "ada");

    @AfterEach
    void close() {
        lab.close();
    }

    @Test
    void a_session_that_is_not_used_ends_after_twelve_hours() {
        String secret = sessions.start(ada, "");
        lab.clock().advance(Duration.ofHours(11));
        assertTrue(sessions.isValid(ada, secret));
        lab.clock().advance(Duration.ofHours(1));
        assertFalse(sessions.isValid(ada, secret), "looking at it is no use of it");
    }

    @Test
    void use_keeps_a_session_for_a_week_and_no_longer() {
        String secret = sessions.start(ada, "");
        long begun = sessions.list(ada).getFirst().startedAt();
        int hours = 0;
        while (sessions.isValid(ada, secret) && hours < 1_000) {
            sessions.extend(ada, secret);
            lab.clock().advance(Duration.ofHours(1));
            hours++;
        }
        assertEquals(7 * 24, hours);
        String other = sessions.start(ada, "");
        assertTrue(sessions.isValid(ada, other));
        assertTrue(sessions.list(ada).getFirst().startedAt() > begun);
    }

    @Test
    void somebody_for_whom_a_provider_vouched_is_asked_for_again_after_twelve_hours_however_busy() {
        UserAccounts people = UserAccounts.serving(SemelRuntime.of(lab.semel()));
        ExternalIdentity eve = ExternalIdentity.of("https://login.example.com", "4711", "eve", Role.OPERATOR);
        String cookie = people.logInExternal("default", eve, "");
        for (int hour = 0; hour < 11; hour++) {
            lab.clock().advance(Duration.ofHours(1));
            people.extendSession(cookie);
        }
        assertNotNull(people.findSignedInUser(cookie));
        lab.clock().advance(Duration.ofHours(1));
        assertNull(people.findSignedInUser(cookie), "what the provider says now is not known");
    }

    @Test
    void a_session_that_was_ended_does_not_come_back_by_being_used() {
        String secret = sessions.start(ada, "");
        lab.clock().advance(Duration.ofHours(2));
        sessions.end(ada, secret);
        sessions.extend(ada, secret);
        assertFalse(sessions.isValid(ada, secret));
    }
}
