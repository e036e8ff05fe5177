package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A store that is busy, locked or gone. */
class StoreOutageTest extends OnBothStores {
    StoreOutageTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void row_6_a_key_whose_first_transaction_does_not_end_is_409_after_a_while() throws SQLException {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        try (HeldTransaction hold = new HeldTransaction(key)) {
            HttpReply reply = admin().trigger("plain", key, data(""));
            if (hold.onKey()) {
                ProblemResponseChecks.expect(reply, 409, "idempotency-key-in-use");
                assertEquals("1", reply.header("Retry-After"));
                assertEquals("true", reply.header("x-should-retry"));
                assertEquals(key, reply.text("idempotency_key"));
                assertTrue(reply.flag("retryable"));
            } else {
                // The only writer of a SQLite file is the server itself: an outsider holds up nobody.
                reply.expect(200);
            }
        }
        HttpReply first = admin().trigger("plain", key, data("")).expect(200);
        replay(first, admin().trigger("plain", key, data("")));
    }

    @Test
    void row_6_a_first_transaction_that_ends_soon_is_waited_for() throws SQLException {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        List<HttpReply> replies;
        try (HeldTransaction hold = new HeldTransaction(key)) {
            replies =
                    ConcurrentCalls.atOnce(3, i -> i == 0 ? hold.untilMet() : admin().trigger("plain", key, data("")));
        }
        replies.forEach(reply -> reply.expect(200));
        assertEquals(replies.get(1).runId(), replies.get(2).runId());
        assertTrue(replies.get(1).flag("idempotent_replayed") != replies.get(2).flag("idempotent_replayed"));
    }

    @Test
    void row_16_an_unreachable_store_is_503_and_the_same_key_is_safe_to_resend() {
        admin().publish(flow("plain")).expect(200);
        String known = stage.key();
        HttpReply first = started(admin().trigger("plain", known, data("")));
        String key = stage.key();
        try (Outage outage = new Outage()) {
            HttpReply refused = admin().trigger("plain", key, data(""));
            if (outage.real()) {
                ProblemResponseChecks.expect(refused, 503, "store-unavailable");
                assertTrue(refused.flag("retryable") && refused.header("Retry-After") != null, refused::toString);
                ProblemResponseChecks.expect(admin().get("/v1/runs"), 503, "store-unavailable");
                assertEquals(503, stage.server().stranger().get("/readyz").status());
                assertEquals(200, stage.server().stranger().get("/healthz").status());
            }
        }
        // Each connection of the server notices by itself that it was cut, so a few more 503 are honest.
        ConcurrentCalls.until(
                "well again", () -> admin().trigger("plain", known, data("")).status() == 200);
        replay(first, admin().trigger("plain", known, data("")));
        HttpReply again = admin().trigger("plain", key, data("")).expect(200);
        ConcurrentCalls.until(
                "ready", () -> stage.server().stranger().get("/readyz").status() == 200);
        replay(again, admin().trigger("plain", key, data("")));
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    /** A transaction that has taken the name of a key and does not end: the insert of a first request, half way. */
    private final class HeldTransaction implements AutoCloseable {
        private final Connection connection = stage.connect();
        private final boolean onKey;

        HeldTransaction(String key) throws SQLException {
            connection.setAutoCommit(false);
            try (var statement = connection.createStatement()) {
                onKey = switch (stage.kind()) {
                    case POSTGRES -> taken(statement, key);
                    case SQLITE -> !refused(statement);
                };
            }
        }

        private static boolean taken(Statement statement, String key) throws SQLException {
            return statement.executeUpdate("""
                INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
                SELECT ws, 1, '%s', '\\x00', '\\x00', 0, 0, 0 FROM semel_workspace WHERE name = 'default'
                """.formatted(key)) == 1;
        }

        private static boolean refused(Statement statement) throws SQLException {
            statement.execute("PRAGMA busy_timeout = 0");
            try {
                statement.executeUpdate("UPDATE semel_catalog SET revision = revision");
                return false;
            } catch (SQLException e) {
                assertEquals(5, e.getErrorCode() & 0xff, "SQLITE_BUSY");
                return true;
            }
        }

        boolean onKey() {
            return onKey;
        }

        /** Lets go as soon as somebody waits for it. */
        HttpReply untilMet() {
            if (onKey) {
                ConcurrentCalls.until("somebody waits", () -> stage.count("""
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """) > 0);
            }
            try {
                connection.rollback();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return admin().get("/v1/workflows/plain");
        }

        @Override
        public void close() throws SQLException {
            connection.rollback();
            connection.close();
        }
    }

    /** PostgreSQL refuses and drops connections. From a SQLite file nobody can shut out the process that has it. */
    private final class Outage implements AutoCloseable {
        private final String database = stage.store().replaceAll(".*/(\\w+)\\?.*", "$1");

        Outage() {
            if (real()) {
                Databases.command("ALTER DATABASE " + database + " ALLOW_CONNECTIONS false");
                Databases.command(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'");
            }
        }

        boolean real() {
            return switch (stage.kind()) {
                case POSTGRES -> true;
                case SQLITE -> false;
            };
        }

        @Override
        public void close() {
            if (real()) {
                Databases.command("ALTER DATABASE " + database + " ALLOW_CONNECTIONS true");
            }
        }
    }
}
