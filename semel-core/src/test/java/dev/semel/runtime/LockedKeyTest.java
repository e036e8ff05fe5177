package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.store.PostgresStoreFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Row 6 on a real PostgreSQL: another worker's transaction holds the key and has not ended. */
final class LockedKeyTest {
    private final EngineTestBench bench = new EngineTestBench(Dialect.POSTGRES);
    private final TriggerResult other;

    LockedKeyTest() {
        bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        other = bench.ask("plain").send();
        bench.ended(other.run());
    }

    @AfterEach
    void close() {
        bench.close();
    }

    /** Takes the key for a run that exists, and leaves the transaction open. */
    private Connection taking(String key) throws SQLException {
        Connection connection = bench.fixture.jdbc();
        connection.setAutoCommit(false);
        try (var statement = connection.prepareStatement("""
            INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
            VALUES (?, 1, ?, ?, ?, 0, 9223372036854775807, 1)
            """)) {
            statement.setInt(1, bench.workspace());
            statement.setString(2, key);
            statement.setBytes(3, other.run().bytes());
            statement.setBytes(4, new byte[32]);
            statement.executeUpdate();
        }
        return connection;
    }

    @Test
    void a_key_that_stays_locked_is_in_use_and_other_keys_are_not() throws SQLException {
        try (Connection connection = taking("K")) {
            assertEquals(
                    ErrorCode.IDEMPOTENCY_KEY_IN_USE,
                    bench.ask("plain").key("K").refused().code());
            assertFalse(bench.ask("plain").key("L").send().replayed());
            connection.rollback();
        }
        assertFalse(bench.ask("plain").key("K").send().replayed());
    }

    @Test
    void a_trigger_without_a_key_that_meets_a_lock_can_be_sent_again() throws SQLException {
        try (Connection connection = bench.fixture.jdbc()) {
            connection.setAutoCommit(false);
            try (var statement = connection.prepareStatement("""
                INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
                VALUES (?, 4, 'mine', ?, ?, 0, 9223372036854775807, 1)
                """)) {
                statement.setInt(1, bench.workspace());
                statement.setBytes(2, other.run().bytes());
                statement.setBytes(3, new byte[32]);
                statement.executeUpdate();
            }
            SemelException refused = bench.ask("plain").runId("mine").refused();
            assertEquals(ErrorCode.STORE_UNAVAILABLE, refused.code());
            assertTrue(refused.detail().endsWith("This request started no run."), refused.detail());
            connection.rollback();
        }
        assertFalse(bench.ask("plain").runId("mine").send().replayed());
    }

    @Test
    void a_key_whose_first_transaction_ends_in_time_is_a_repeat() throws SQLException {
        try (Connection connection = taking("K")) {
            FutureTask<TriggerResult> caller =
                    new FutureTask<>(() -> bench.ask("plain").key("K").send());
            Thread.ofVirtual().start(caller);
            PostgresStoreFixture.awaitBlockedBy(connection);
            connection.commit();
            Await.until("the trigger is answered", caller::isDone);
            assertTrue(caller.resultNow().replayed());
            assertEquals(other.runId(), caller.resultNow().runId());
        }
    }
}
