package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Workers can be seen. What they tell of themselves is shown and decides nothing. */
interface WorkerRules {
    TestStoreClient client();

    private DatabaseRows.WorkerRow only() {
        assertEquals(1, client().reads.workers().size());
        return client().reads.workers().getFirst();
    }

    @Test
    default void a_worker_is_listed_from_its_start_with_the_end_of_its_lease() {
        DatabaseRows.WorkerRow worker = only();
        assertEquals(
                new DatabaseRows.WorkerRow(
                        TestStoreClient.LEASE,
                        "client",
                        "",
                        StoreFixture.START,
                        0,
                        StoreFixture.START + TestStoreClient.TTL,
                        0,
                        0),
                worker);
        assertEquals(StoreFixture.START + TestStoreClient.TTL, worker.leaseUntil());
    }

    @Test
    default void a_worker_report_is_shown_with_its_clock_offset() {
        client().fixture.setTime(StoreFixture.START + 7);
        WorkerLeases.StoreStatus pulse = client().leases
                .heartbeat(
                        TestStoreClient.LEASE,
                        new WorkerLeases.WorkerReport("1.2.3", 42, StoreFixture.START + 1_000_007));
        assertEquals(1_000_000, pulse.clockAhead());
        assertNull(pulse.unknownMigration());
        assertEquals(
                new DatabaseRows.WorkerRow(
                        TestStoreClient.LEASE,
                        "client",
                        "1.2.3",
                        StoreFixture.START,
                        StoreFixture.START + 7,
                        only().leaseUntil(),
                        42,
                        1_000_000),
                only());
        client().leases.heartbeat(TestStoreClient.LEASE, new WorkerLeases.WorkerReport("1.2.3", 0, StoreFixture.START));
        assertEquals(-7, only().clockAhead());
    }

    @Test
    default void a_report_neither_renews_nor_restores_a_lease() {
        long until = only().leaseUntil();
        client().leases.heartbeat(TestStoreClient.LEASE, new WorkerLeases.WorkerReport("1", 1, 0));
        assertEquals(until, only().leaseUntil());
        client().leases.end(TestStoreClient.LEASE);
        client().leases.heartbeat(TestStoreClient.LEASE, new WorkerLeases.WorkerReport("1", 1, 0));
        assertEquals(0, client().reads.workers().size());
    }

    @Test
    default void the_heartbeat_returns_the_durability_settings() {
        assertEquals(
                client().store.durability(),
                client().leases
                        .heartbeat(TestStoreClient.LEASE, new WorkerLeases.WorkerReport("1", 1, 0))
                        .durability());
    }
}
