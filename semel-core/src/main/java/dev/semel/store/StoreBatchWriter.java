package dev.semel.store;

import java.util.List;

/** A database connection that commits batches of writes, one transaction each. Used by one thread. */
public interface StoreBatchWriter extends AutoCloseable {
    /** One transaction, durable on return; results in order. An exception says what is known about the store. */
    List<Object> apply(CommitBatch batch) throws StoreFailure;

    @Override
    void close();
}
