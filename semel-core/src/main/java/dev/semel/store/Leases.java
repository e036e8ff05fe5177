package dev.semel.store;

/** The right to drive runs: a lease that is never reused, with one fence slot per lane. */
public interface Leases extends AutoCloseable {
    /** A new lease with all its slots. */
    void start(long lease, String worker, int slots, long ttlMicros);

    /** False: the lease is gone. */
    boolean renew(long lease, long ttlMicros);

    /** Ends leases whose time is over by the store's clock, and sets their runs free. Answers how many ended. */
    int takeOver();

    /** Gives the lease back on a clean stop; its runs are free at once. */
    void end(long lease);

    @Override
    void close();
}
