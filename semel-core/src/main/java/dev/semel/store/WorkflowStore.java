package dev.semel.store;

import dev.semel.run.RunId;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The port to the database: named writes and queries, without SQL. */
public interface WorkflowStore extends AutoCloseable {
    /** Migrates the schema; rejects a newer schema with breaking changes. */
    void migrate();

    /** How many connections may write at the same time. */
    int lanes();

    BatchWriter openLane();

    /** How many user transactions may be open beside the write connections; 0 if they share one. */
    int txLanes();

    /** A connection for {@link StoreWrite.UserTransaction} only: the user's code runs on it before the fence is checked. */
    BatchWriter openTxLane();

    /** A connection for queries, for one thread. */
    StoreQueries openQueries();

    WorkerLeases openLeases();

    /**
     * Calls back when another worker created work: with the run, or with null. It is a hint that may come late or
     * never. The callback must return quickly. Stores for a single process never call it.
     */
    default WakeSubscription listen(Consumer<@Nullable RunId> listener) {
        return () -> {};
    }

    interface WakeSubscription extends AutoCloseable {
        @Override
        void close();
    }

    /** Threads of the store that must live as long as it is open. */
    default List<Thread> threads() {
        return List.of();
    }

    /** An operator confirms the clock of this machine after a jump. Stores with a server use the server's clock. */
    default void confirmClock() {}

    /** Whether commits survive crashes, by the database settings: fsync, journal mode, replication. */
    Durability durability();

    @Override
    void close();

    /** A database connection that commits batches of writes, one transaction each. Used by one thread. */
    public interface BatchWriter extends AutoCloseable {
        /** One transaction, durable on return; results in order. An exception says what is known about the store. */
        List<Object> apply(CommitBatch batch) throws StoreFailure;

        @Override
        void close();
    }

    /**
     * @param safe whether an accepted trigger survives a crash of the process and of the machine
     * @param summary the database settings that this was read from, and the consequence, in one line for users
     */
    public record Durability(boolean safe, String summary) {}
}
