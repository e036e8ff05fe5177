package dev.semel.store;

import java.util.List;

/** One writing connection. Used by one thread. */
public interface Lane extends AutoCloseable {
    /**
     * Applies all writes in one transaction and tells each outcome, in order. When it returns, the transaction is
     * durable; when it throws, the failure says what is known.
     */
    List<Object> apply(Batch batch) throws StoreFailure;

    @Override
    void close();
}
