package dev.semel.store;

import org.jspecify.annotations.Nullable;

/**
 * Only the holder of a lease may execute runs. Its id is never reused; each write connection has a fence slot. One
 * thread may take over leases while another one starts, renews and reports; a lease ends after both have stopped.
 */
public interface WorkerLeases extends AutoCloseable {
    /** Creates a lease with all its slots; throws {@link StoreFailure.SchemaTooNew} if the schema is too new. */
    void start(long lease, String worker, int slots, long ttlMicros);

    /**
     * Whether no other worker can open the store, so that a late renewal costs nothing: the lease then lasts as long as
     * the process.
     */
    default boolean isExclusive() {
        return false;
    }

    /** Returns false if the lease has ended. */
    boolean renew(long lease, long ttlMicros);

    /** Stores the status of this worker for the worker list, and returns the status of the store. */
    StoreStatus heartbeat(long lease, WorkerReport workerReport);

    /** For display only. {@code clock}: its own clock, in microseconds. */
    record WorkerReport(String version, int runs, long clock) {}

    /**
     * @param clockAhead how far the worker's clock is ahead of the store's, in microseconds; negative if behind
     * @param unknownMigration the migration that this version does not know; null if it knows all
     */
    record StoreStatus(
            long clockAhead,
            WorkflowStore.Durability durability,
            @Nullable String unknownMigration) {}

    /**
     * Ends leases that have expired by the store's clock and frees their runs. Returns how many ended.
     *
     * @param own the caller's lease, which only its own renewal or another worker ends; 0 for none
     */
    int takeOverExpired(long own);

    /** Ends the lease on a clean shutdown and frees its runs at once. */
    void end(long lease);

    @Override
    void close();
}
