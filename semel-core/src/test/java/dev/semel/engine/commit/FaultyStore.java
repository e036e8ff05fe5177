package dev.semel.engine.commit;

import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;

/**
 * A real store whose lanes fail on command, and stop at a gate so that a test can let writes gather. A batch of nothing
 * but claims meets no fault: tests use one to stand at the gate.
 */
public final class FaultyStore implements WorkflowStore {
    public enum Fault {
        /** Nothing is applied. */
        DOWN,
        /** Applied and durable, but the answer is lost. */
        ANSWER_LOST,
        /** Never arrived, which looks the same. */
        COMMIT_LOST,
        LOCKED,
        FENCED,
        /** An error that no code expects, such as a stack overflow. Nothing is applied. */
        UNFORESEEN
    }

    public final ConcurrentLinkedQueue<Fault> next = new ConcurrentLinkedQueue<>();
    final List<CommitBatch> applied = new CopyOnWriteArrayList<>();
    public volatile boolean down;
    public volatile Predicate<StoreWrite<?>> poison = _ -> false;
    private final Semaphore gate = new Semaphore(1_000_000);
    private final WorkflowStore real;

    public FaultyStore(WorkflowStore real) {
        this.real = real;
    }

    /** Stops the next batch before it is applied. */
    void shut() {
        gate.drainPermits();
    }

    public void open() {
        gate.release(1_000_000);
    }

    boolean somebodyWaits() {
        return gate.hasQueuedThreads();
    }

    @Override
    public int txLanes() {
        return real.txLanes();
    }

    @Override
    public WorkflowStore.BatchWriter openTxLane() {
        return real.openTxLane();
    }

    @Override
    public WorkflowStore.BatchWriter openLane() {
        WorkflowStore.BatchWriter lane = real.openLane();
        return new WorkflowStore.BatchWriter() {
            @Override
            public List<Object> apply(CommitBatch batch) {
                gate.acquireUninterruptibly();
                return FaultyStore.this.apply(lane, batch);
            }

            @Override
            public void close() {
                lane.close();
            }
        };
    }

    private List<Object> apply(WorkflowStore.BatchWriter lane, CommitBatch batch) {
        Exception cause = new IllegalStateException("on command");
        if (batch.writes().stream().anyMatch(poison)) {
            throw new StoreFailure.ValueRejected("on command", cause);
        }
        boolean bystander = batch.writes().stream().allMatch(StoreWrite.ClaimRuns.class::isInstance);
        Fault fault = bystander ? null : down ? Fault.DOWN : next.poll();
        if (fault != null) {
            switch (fault) {
                case DOWN -> throw new StoreFailure.Unreachable("on command", cause);
                case ANSWER_LOST -> {
                    applied.add(batch);
                    lane.apply(batch);
                    throw new StoreFailure.CommitUnknown(cause);
                }
                case COMMIT_LOST -> throw new StoreFailure.CommitUnknown(cause);
                case LOCKED -> throw new StoreFailure.LockConflict(true, cause);
                case UNFORESEEN -> throw new StackOverflowError("on command");
                case FENCED ->
                    throw new StoreFailure.Fenced(
                            batch.leaseSlot() == null ? 0 : batch.leaseSlot().lease());
            }
        }
        applied.add(batch);
        return lane.apply(batch);
    }

    @Override
    public void migrate() {
        real.migrate();
    }

    /** One, so that all writes meet the same faults. */
    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public StoreQueries openQueries() {
        return real.openQueries();
    }

    @Override
    public WorkerLeases openLeases() {
        return real.openLeases();
    }

    @Override
    public WorkflowStore.Durability durability() {
        return real.durability();
    }

    @Override
    public void close() {
        real.close();
    }
}
