package dev.semel.store;

import java.util.List;

/** A database connection that commits batches of writes, one transaction each. Used by one thread. */
public interface WriteLane extends AutoCloseable {
    /**
     * Applies all writes in one transaction and returns their results in order. The transaction is durable on return.
     * An exception says what is known about the state of the store.
     */
    List<Object> apply(CommitBatch batch) throws StoreFailure;

    @Override
    void close();
}
