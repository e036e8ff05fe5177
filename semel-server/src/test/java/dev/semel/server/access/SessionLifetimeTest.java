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
final class SessionLifetimeTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final LoginSessionStore sessions = new LoginSessionStore(SemelRuntime.of(kit.semel()));
    private final LoginSessionStore.Owner ada = new LoginSessionStore.Owner(
            SemelRuntime.of(kit.semel()).testAccess().workspace(), "ada");

    @AfterEach
    void close() {
        kit.close();
    }

    @Test
    void an_unused_session_ends_after_twelve_hours() {
        String secret = sessions.start(ada, "");
        kit.clock().advance(Duration.ofHours(11));
        assertTrue(sessions.isValid(ada, secret));
        kit.clock().advance(Duration.ofHours(1));
        assertFalse(sessions.isValid(ada, secret), "looking at it is no use of it");
    }

    @Test
    void an_active_session_lasts_at_most_a_week() {
        String secret = sessions.start(ada, "");
        long begun = sessions.list(ada).getFirst().startedAt();
        int hours = 0;
        while (sessions.isValid(ada, secret) && hours < 1_000) {
            sessions.extend(ada, secret);
            kit.clock().advance(Duration.ofHours(1));
            hours++;
        }
        assertEquals(7 * 24, hours);
        String other = sessions.start(ada, "");
        assertTrue(sessions.isValid(ada, other));
        assertTrue(sessions.list(ada).getFirst().startedAt() > begun);
    }

    @Test
    void an_externally_authenticated_session_ends_after_twelve_hours_even_if_active() {
        UserAccountStore users = UserAccountStore.serving(SemelRuntime.of(kit.semel()));
        ExternalIdentity eve = ExternalIdentity.of("https://login.example.com", "4711", "eve", UserRole.OPERATOR);
        String cookie = users.logInExternal("default", eve, "");
        for (int hour = 0; hour < 11; hour++) {
            kit.clock().advance(Duration.ofHours(1));
            users.extendSession(cookie);
        }
        assertNotNull(users.findSignedInUser(cookie));
        kit.clock().advance(Duration.ofHours(1));
        assertNull(users.findSignedInUser(cookie), "what the provider says now is not known");
    }

    @Test
    void an_ended_session_is_not_revived_by_use() {
        String secret = sessions.start(ada, "");
        kit.clock().advance(Duration.ofHours(2));
        sessions.end(ada, secret);
        sessions.extend(ada, secret);
        assertFalse(sessions.isValid(ada, secret));
    }
}
