package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Durability;
import dev.semel.store.Lane;
import dev.semel.store.Leases;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A store that forgets everything with the process, for tests and simulations. It answers as SQLite and PostgreSQL do,
 * to the last outcome, and is held to the same contract. Any number of engines may share one, each under a lease of its
 * own, as on PostgreSQL. What was written outlives the engine that wrote it: throw an engine away without closing it and
 * open another one on the same store, and you have tried a crash.
 *
 * <p>Nothing waits here but for the one lock, and nothing depends on hashing or on time: the same writes in the same
 * order have the same outcomes.
 */
public final class MemoryStore implements Store {
    private static final int LANES = 2;

    private final Surroundings surroundings;
    private final int lanes;

    /** What every part of the store shares. Whoever touches the tables holds the lock. */
    record Surroundings(ReentrantLock lock, Tables tables, LongSupplier clock, Supplier<RunId> ids) {}

    /**
     * @param clockMicros the store's clock, in microseconds
     * @param ids new ids for signals and audit rows
     */
    public MemoryStore(LongSupplier clockMicros, Supplier<RunId> ids) {
        this(clockMicros, ids, LANES);
    }

    /** @param lanes how many lanes an engine opens; one makes the order of its batches the order of its writes */
    public MemoryStore(LongSupplier clockMicros, Supplier<RunId> ids, int lanes) {
        if (lanes < 1) {
            throw new IllegalArgumentException("a store has at least one lane, not " + lanes);
        }
        this.surroundings = new Surroundings(new ReentrantLock(), new Tables(), clockMicros, ids);
        this.lanes = lanes;
    }

    /** For those who look at the rows themselves. */
    Surroundings surroundings() {
        return surroundings;
    }

    @Override
    public void migrate() {}

    @Override
    public int lanes() {
        return lanes;
    }

    @Override
    public Lane openLane() {
        return new MemoryLane(surroundings);
    }

    @Override
    public int txLanes() {
        return 0; // differs: there is no SQL here, so a lane answers that a transaction of the user is undone
    }

    @Override
    public Lane openTxLane() {
        throw new UnsupportedOperationException("there is no SQL in memory");
    }

    @Override
    public Reads openReads() {
        return new MemoryReads(surroundings);
    }

    @Override
    public Leases openLeases() {
        return new MemoryLeases(surroundings);
    }

    @Override
    public Durability durability() {
        return MemoryLeases.DURABILITY;
    }

    /** Closes nothing: the next engine finds what this one wrote. */
    @Override
    public void close() {}
}
