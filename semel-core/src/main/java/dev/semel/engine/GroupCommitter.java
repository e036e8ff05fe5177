package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.CommitBatch;
import dev.semel.store.Store;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Groups concurrent writes into one transaction per batch and answers each caller after its commit.
 * Callers submit a write and park; a commit lane applies the waiting writes together. One fsync per batch gives the
 * throughput, and no answer leaves before its commit.
 */
public final class GroupCommitter implements AutoCloseable {
    private final List<CommitLane> lanes = new ArrayList<>();
    private final LeaseKeeper leases;
    private final Semaphore queueSlots;
    private final EngineCounters counters;
    private volatile boolean closed;

    public GroupCommitter(Store store, LeaseKeeper leases, EngineLimits limits, EngineDependencies dependencies) {
        this.leases = leases;
        this.counters = dependencies.counters();
        this.queueSlots = new Semaphore(limits.queuedTriggers());
        for (int slot = 0; slot < store.lanes(); slot++) {
            lanes.add(new CommitLane(new CommitLane.LaneSlot(slot, store.openLane()), leases, limits, dependencies));
        }
    }

    /** The environment and counters that all parts of the engine share. */
    public record EngineDependencies(EngineEnvironment environment, EngineCounters counters) {}

    public int lanes() {
        return lanes.size();
    }

    /** The lease under which this worker writes now, or null while it has none. */
    public @Nullable Long lease() {
        CommitBatch.LeaseSlot hold = leases.hold(0);
        return hold == null ? null : hold.lease();
    }

    /** Whether a newer version of Semel has upgraded the store, so that this worker can no longer write. */
    boolean isOutdated() {
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
                    "Send it again with the same key in a moment; that is always safe.");
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

    /** Number of writes submitted so far, on all lanes. */
    public long submittedWrites() {
        return lanes.stream().mapToLong(CommitLane::submittedWrites).sum();
    }

    /** Whether every submitted write has an answer. */
    public boolean isIdle() {
        return lanes.stream().allMatch(CommitLane::isIdle);
    }

    static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "This worker is shutting down. No run was started.",
                "Send it again with the same key in a moment; that is always safe.");
    }

    /** Rejects new triggers, finishes the submitted writes, then stops. */
    @Override
    public void close() {
        closed = true;
        lanes.forEach(CommitLane::close);
    }
}
