package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Workers can be seen. What they tell of themselves is shown and decides nothing. */
interface WorkerRules {
    Desk desk();

    private StoredRows.WorkerRow only() {
        assertEquals(1, desk().reads.workers().size());
        return desk().reads.workers().getFirst();
    }

    @Test
    default void a_worker_is_seen_from_its_start_with_the_end_of_its_lease() {
        StoredRows.WorkerRow worker = only();
        assertEquals(
                new StoredRows.WorkerRow(Desk.LEASE, "desk", "", Place.START, 0, Place.START + Desk.TTL, 0, 0),
                worker.leaseUntil(Place.START + Desk.TTL));
        assertEquals(Place.START + Desk.TTL, worker.leaseUntil());
    }

    @Test
    default void what_it_tells_of_itself_is_shown_with_how_far_its_clock_is_ahead() {
        desk().place.setTime(Place.START + 7);
        WorkerLeases.StoreStatus pulse = desk().leases
                .heartbeat(Desk.LEASE, new WorkerLeases.WorkerReport("1.2.3", 42, Place.START + 1_000_007));
        assertEquals(1_000_000, pulse.clockAhead());
        assertNull(pulse.unknownMigration());
        assertEquals(
                new StoredRows.WorkerRow(
                        Desk.LEASE, "desk", "1.2.3", Place.START, Place.START + 7, only().leaseUntil(), 42, 1_000_000),
                only());
        desk().leases.heartbeat(Desk.LEASE, new WorkerLeases.WorkerReport("1.2.3", 0, Place.START));
        assertEquals(-7, only().clockAhead());
    }

    @Test
    default void telling_renews_nothing_and_a_lease_that_is_gone_does_not_come_back_by_it() {
        long until = only().leaseUntil();
        desk().leases.heartbeat(Desk.LEASE, new WorkerLeases.WorkerReport("1", 1, 0));
        assertEquals(until, only().leaseUntil());
        desk().leases.end(Desk.LEASE);
        desk().leases.heartbeat(Desk.LEASE, new WorkerLeases.WorkerReport("1", 1, 0));
        assertEquals(0, desk().reads.workers().size());
    }

    @Test
    default void the_heartbeat_tells_what_a_commit_survives() {
        assertEquals(
                desk().store.durability(),
                desk().leases
                        .heartbeat(Desk.LEASE, new WorkerLeases.WorkerReport("1", 1, 0))
                        .durability());
    }
}
