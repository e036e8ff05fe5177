package dev.semel.store;

import org.jspecify.annotations.Nullable;

/**
 * Creates, renews and ends worker leases. Only the holder of a lease may execute runs. A lease id is never reused, and
 * each write connection has its own fence slot.
 */
public interface Leases extends AutoCloseable {
    /** Creates a lease with all its slots; throws {@link StoreFailure.Outdated} if the schema is too new. */
    void start(long lease, String worker, int slots, long ttlMicros);

    /** Returns false if the lease has ended. */
    boolean renew(long lease, long ttlMicros);

    /** Stores the status of this worker for the worker list, and returns the status of the store. */
    Pulse pulse(long lease, Told told);

    /**
     * The status that a worker reports about itself, for display only.
     *
     * @param runs how many runs it executes
     * @param wall its own clock, in microseconds
     */
    record Told(String version, int runs, long wall) {}

    /**
     * Clock difference, durability and schema status of the store, as returned by a heartbeat.
     *
     * @param ahead how far the worker's clock is ahead of the store's, in microseconds; negative if behind
     * @param newer the migration that this version does not know; null if it knows all
     */
    record Pulse(
            long ahead, Durability durability, @Nullable String newer) {}

    /** Ends leases that have expired by the store's clock and frees their runs. Returns how many ended. */
    int takeOver();

    /** Ends the lease on a clean shutdown and frees its runs at once. */
    void end(long lease);

    @Override
    void close();
}
