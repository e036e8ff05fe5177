package dev.semel.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFailure;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A worker whose client is paused in the middle of a batch holds a slot of its lease; nobody waits for it for ever. */
final class LeaseTakeoverTest {
    private static final long DEAD = 7;
    private static final long OVER = -1;

    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final AtomicLong ids = new AtomicLong();
    private final WorkflowStore store =
            new PostgresStore(fixture.url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1));
    private final WorkerLeases leases = store.openLeases();

    @BeforeEach
    void open() {
        store.migrate();
    }

    @AfterEach
    void close() {
        leases.close();
        fixture.close();
    }

    private static void lockSlot(Connection connection, long lease) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1 FROM semel_fence WHERE lease = " + lease + " AND slot = 1 FOR NO KEY UPDATE");
        }
    }

    @Test
    void a_session_that_holds_a_slot_of_an_expired_lease_is_terminated() throws SQLException {
        leases.start(DEAD, "dead", 2, OVER);
        try (Connection paused = fixture.jdbc()) {
            lockSlot(paused, DEAD);
            assertEquals(1, leases.takeOverExpired(0));
            assertFalse(paused.isValid(5), "its session is gone, and with it what it had not committed");
        }
        assertEquals(0, fixture.count("semel_lease"));
        assertEquals(0, fixture.count("semel_fence"));
    }

    @Test
    void sessions_of_a_valid_lease_are_left_alone() throws SQLException {
        leases.start(DEAD, "alive", 2, 60_000_000);
        try (Connection working = fixture.jdbc()) {
            lockSlot(working, DEAD);
            assertEquals(0, leases.takeOverExpired(0));
            assertTrue(working.isValid(5));
            working.rollback();
        }
        assertEquals(1, fixture.count("semel_lease"));
    }

    @Test
    void a_lease_that_cannot_be_taken_over_does_not_block_the_others() throws SQLException {
        leases.start(DEAD, "stuck", 2, OVER);
        leases.start(DEAD + 1, "next", 2, OVER);
        try (Connection shared = fixture.jdbc();
                Statement statement = shared.createStatement()) {
            shared.setAutoCommit(false);
            // Not a lock of the slot itself, so there is no session to end.
            statement.execute("SELECT 1 FROM semel_lease WHERE lease = " + DEAD + " FOR KEY SHARE");
            assertEquals(0, leases.takeOverExpired(0), "the first one is in the way once");
            assertEquals(1, leases.takeOverExpired(0), "and then stands last");
            assertEquals(1, fixture.number("SELECT count(*) FROM semel_lease WHERE lease = " + DEAD));
            shared.rollback();
        }
        assertEquals(1, leases.takeOverExpired(0));
        assertEquals(0, fixture.count("semel_lease"));
    }

    @Test
    void two_workers_cannot_have_the_same_lease() {
        leases.start(DEAD, "first", 2, 60_000_000);
        try (WorkerLeases other = store.openLeases()) {
            assertThrows(StoreFailure.ValueRejected.class, () -> other.start(DEAD, "second", 2, 60_000_000));
        }
        assertEquals("first", store.openQueries().workers().getFirst().name());
    }
}
