package dev.semel.store;

import org.jspecify.annotations.Nullable;

/** The right to drive runs: a lease that is never reused, with one fence slot per lane. */
public interface Leases extends AutoCloseable {
    /** A new lease with all its slots; refused with {@link StoreFailure.Outdated} under a schema that is too new. */
    void start(long lease, String worker, int slots, long ttlMicros);

    /** False: the lease is gone. */
    boolean renew(long lease, long ttlMicros);

    /** Tells of this worker, for whoever looks at the workers, and asks how the store is. */
    Pulse pulse(long lease, Told told);

    /**
     * What a worker tells of itself. Nothing is decided by it.
     *
     * @param runs how many it drives
     * @param wall its own clock, in microseconds
     */
    record Told(String version, int runs, long wall) {}

    /**
     * How the store is.
     *
     * @param ahead how far the worker's clock is before the store's, in microseconds; behind it below zero
     * @param newer the migration that this version does not understand; null where it understands all of them
     */
    record Pulse(
            long ahead, Durability durability, @Nullable String newer) {}

    /** Ends leases whose time is over by the store's clock, and sets their runs free. Answers how many ended. */
    int takeOver();

    /** Gives the lease back on a clean stop; its runs are free at once. */
    void end(long lease);

    @Override
    void close();
}
