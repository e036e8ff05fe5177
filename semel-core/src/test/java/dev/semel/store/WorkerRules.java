package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Workers can be seen. What they tell of themselves is shown and decides nothing. */
interface WorkerRules {
    Desk desk();

    private Rows.Worker only() {
        assertEquals(1, desk().reads.workers().size());
        return desk().reads.workers().getFirst();
    }

    @Test
    default void a_worker_is_seen_from_its_start_with_the_end_of_its_lease() {
        Rows.Worker worker = only();
        assertEquals(
                new Rows.Worker(Desk.LEASE, "desk", "", Place.START, 0, Place.START + Desk.TTL, 0, 0),
                worker.until(Place.START + Desk.TTL));
        assertEquals(Place.START + Desk.TTL, worker.until());
    }

    @Test
    default void what_it_tells_of_itself_is_shown_with_how_far_its_clock_is_ahead() {
        desk().place.setTime(Place.START + 7);
        Leases.Pulse pulse = desk().leases.pulse(Desk.LEASE, new Leases.Told("1.2.3", 42, Place.START + 1_000_007));
        assertEquals(1_000_000, pulse.ahead());
        assertNull(pulse.newer());
        assertEquals(
                new Rows.Worker(
                        Desk.LEASE, "desk", "1.2.3", Place.START, Place.START + 7, only().until(), 42, 1_000_000),
                only());
        desk().leases.pulse(Desk.LEASE, new Leases.Told("1.2.3", 0, Place.START));
        assertEquals(-7, only().ahead());
    }

    @Test
    default void telling_renews_nothing_and_a_lease_that_is_gone_does_not_come_back_by_it() {
        long until = only().until();
        desk().leases.pulse(Desk.LEASE, new Leases.Told("1", 1, 0));
        assertEquals(until, only().until());
        desk().leases.end(Desk.LEASE);
        desk().leases.pulse(Desk.LEASE, new Leases.Told("1", 1, 0));
        assertEquals(0, desk().reads.workers().size());
    }

    @Test
    default void the_heartbeat_tells_what_a_commit_survives() {
        assertEquals(
                desk().store.durability(),
                desk().leases.pulse(Desk.LEASE, new Leases.Told("1", 1, 0)).durability());
    }
}
