package dev.semel.engine.commit;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** One fsync per batch gives the throughput, and no answer leaves before its commit. */
public final class GroupCommitter implements AutoCloseable {
    private final List<StoreWriterThread> lanes = new ArrayList<>();
    private final WorkerLeaseRenewer leases;
    private final Semaphore queueSlots;
    private final EngineMetricCounters counters;
    private volatile boolean closed;

    public GroupCommitter(
            WorkflowStore store, WorkerLeaseRenewer leases, EngineLimits limits, EngineDependencies dependencies) {
        this.leases = leases;
        this.counters = dependencies.counters();
        this.queueSlots = new Semaphore(limits.queuedTriggers());
        for (int slot = 0; slot < store.lanes(); slot++) {
            lanes.add(new StoreWriterThread(
                    new StoreWriterThread.LaneSlot(slot, store.openLane()), leases, limits, dependencies));
        }
    }

    public record EngineDependencies(
            ClockAndRandomSource environment, EngineMetricCounters counters, EssentialThreads threads) {
        public EngineDependencies(ClockAndRandomSource environment, EngineMetricCounters counters) {
            this(environment, counters, new EssentialThreads());
        }
    }

    public int lanes() {
        return lanes.size();
    }

    /** The lease under which this worker writes now, or null while it has none. */
    public @Nullable Long lease() {
        CommitBatch.LeaseSlot hold = leases.hold(0);
        return hold == null ? null : hold.lease();
    }

    /** Whether a newer version of Semel has upgraded the store, so that this worker can no longer write. */
    public boolean isOutdated() {
        return leases.outdated() != null;
    }

    /** Submits a trigger. Rejects it at once if too many are waiting or the committer is closed. */
    public CompletableFuture<StoreWrite.AdmitResult> admit(int lane, StoreWrite.AdmitRun admit) {
        if (closed) {
            throw shuttingDown();
        }
        if (!queueSlots.tryAcquire()) {
            counters.overload.increment();
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    "The trigger queue of this worker is full. No run was started.",
                    "Send the request again with the same key in a moment. This is always safe.");
        }
        CompletableFuture<StoreWrite.AdmitResult> answer = lanes.get(lane).submit(admit, true);
        return answer.whenComplete((_, _) -> queueSlots.release());
    }

    /** Submits a write with a deadline, like a trigger: it fails if the store does not accept it in time. */
    public <O> CompletableFuture<O> submitWithDeadline(int lane, StoreWrite<O> write) {
        return lanes.get(lane).submit(write, true);
    }

    /** Submits any other write. It is never rejected for load: the number of writing runs is bounded. */
    public <O> CompletableFuture<O> submit(int lane, StoreWrite<O> write) {
        return lanes.get(lane).submit(write, false);
    }

    /** Executes a command on the first lane and waits for its result. */
    public <T> T execute(StoreWriteCommand<T> command) {
        return submit(0, new StoreWrite.ExecuteCommand<>(command)).join();
    }

    public long submittedWrites() {
        return lanes.stream().mapToLong(StoreWriterThread::submittedWrites).sum();
    }

    /** Whether every submitted write has an answer. */
    public boolean isIdle() {
        return lanes.stream().allMatch(StoreWriterThread::isIdle);
    }

    static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "This worker is shutting down. No run was started.",
                "Send the request again with the same key in a moment. This is always safe.");
    }

    /** Rejects new triggers, finishes the submitted writes, then stops. */
    @Override
    public void close() {
        closed = true;
        lanes.forEach(StoreWriterThread::close);
    }
}
